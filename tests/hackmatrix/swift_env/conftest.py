"""An engine that fails on purpose."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hackmatrix.swift_env.memory import MEMORY, PIPE, TRANSPORT_VARIABLE
from hackmatrix.swift_env.process import BINARY_VARIABLE, binary_path

UNRELIABLE = Path(__file__).with_name("unreliable.py")


@pytest.fixture(params=[MEMORY, PIPE])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways in which the rows of steps come from the engine."""
    monkeypatch.setenv(TRANSPORT_VARIABLE, request.param)
    return str(request.param)


@pytest.fixture
def unreliable(swift_built: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """From the call on, engines fail once in their third step, in the way that is named."""

    def use(how: str) -> None:
        monkeypatch.setenv("UNRELIABLE_ENGINE", str(binary_path()))
        monkeypatch.setenv("UNRELIABLE_HOW", how)
        monkeypatch.setenv("UNRELIABLE_ONCE", str(tmp_path / "failed"))
        monkeypatch.setenv(BINARY_VARIABLE, str(UNRELIABLE))

    return use

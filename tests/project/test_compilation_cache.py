"""Every world's JAX engine keeps what is compiled, whoever opens it."""

import os
from pathlib import Path
from typing import Any

import pytest

from parity import World, load_world


class OpenedError(Exception):
    """Enough is known."""


@pytest.mark.parametrize("name", ["hackmatrix", "goodharts-proxy"])
def test_a_world_keeps_compiled_programs_before_it_imports_its_engine(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world: World = load_world(name)
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def stop(*_: Any, **__: Any) -> Any:  # noqa: ANN401 - stands in for any engine
        raise OpenedError

    package = name.partition("-")[0]
    monkeypatch.setattr("worldkit.jax.engine.JaxEngine", stop)
    with pytest.raises(OpenedError):
        world.engines["jax"](1)
    assert package in os.environ["JAX_COMPILATION_CACHE_DIR"]

"""The notebooks in examples run from top to bottom in this process, with smaller settings; their commands too."""

import glob
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from tests.project.test_tutorials import Carry, in_process

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "examples").glob("*.ipynb"))}
SETTINGS: dict[str, dict[str, object]] = {
    "train_and_watch": {
        # The program that tests/hackmatrix/train/test_command.py compiles.
        "SETTINGS": "--preset quick --num-envs 8 --num-steps 16 --hidden-dim 16 --num-layers 3 --log-interval 2 "
        "--num-minibatches 4 --total-timesteps 256",
        "ENGINE": "swift",
        "EPISODES": 2,
    },
    "debug_a_reward": {"GAMES": 1, "STEPS": 20},
    "hold_a_port": {"GAMES": 2, "STEPS": 60},
}
"""Values instead of those in the cell that is tagged ``parameters``."""
SHOWN = {
    "train_and_watch": {"curve": "image/png", "watch": "text/html"},
    "debug_a_reward": {"diff": "text/html"},
    "hold_a_port": {"page": "text/html"},
}
"""Cells -> what they show besides text."""


class Shell(InteractiveShell):
    """A kernel without a process, whose ``!`` lines are carried out, or only listed in ``commands``."""

    def __init__(self, carry: Carry | None = None, **settings: Any) -> None:  # noqa: ANN401 - traits of any type
        super().__init__(user_module=ModuleType("notebook"), **settings)
        self.carry = carry
        self.commands: list[str] = []

    def system(self, command: str) -> None:
        """What IPython calls for a line with ``!``."""
        command = self.var_expand(command, depth=1)
        self.commands.append(command)
        if self.carry:
            code, output = self.carry(command)
            assert code == (1 if "# exit code 1" in command else 0), f"! {command}\n{output[-5000:]}"

    def run_source(self, source: str) -> ExecutionResult:
        """Run a cell, and raise what it raises."""
        result = self.run_cell(source)
        result.raise_error()
        return result


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    for name in ("JAX_PLATFORMS", "MPLBACKEND"):
        monkeypatch.setenv(name, {"JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg"}[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    shell = Shell.instance()
    shell.history_manager.enabled = False
    yield shell
    Shell.clear_instance()


def cells(notebook: str, kind: str = "code") -> dict[str, str]:
    """Sources of its cells by id."""
    return {cell["id"]: "".join(cell["source"]) for cell in NOTEBOOKS[notebook]["cells"] if cell["cell_type"] == kind}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("swift_built")
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_notebook_runs(notebook: str, shell: Shell, tmp_path: Path) -> None:
    shell.carry = in_process(tmp_path)
    shown = {}
    for cell, source in cells(notebook).items():
        result = shell.run_source(source)
        if cell == "parameters":
            assert set(SETTINGS[notebook]) <= set(shell.user_ns)
            shell.push(SETTINGS[notebook])
        if result.result is not None:
            formats, _ = shell.display_formatter.format(result.result)
            shown |= {cell: kind for kind in formats if kind != "text/plain"}
    assert shown == SHOWN[notebook]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
@pytest.mark.parametrize(
    ("found", "extra"), [("nvidia-smi", "[cuda]"), ("/dev/accel0", "[tpu]"), ("/dev/vfio/0", "[tpu]"), ("", "")]
)
def test_the_first_cell_installs_what_is_missing(
    notebook: str, found: str, extra: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name == found else None)
    monkeypatch.setattr(glob, "glob", lambda pattern: [found] * found.startswith(pattern[:-1]))
    first, *_ = cells(notebook).values()
    shell.run_source(first)
    clone, install = shell.commands
    assert clone.endswith(" https://… checkout")
    assert install.startswith("pip install --quiet ./checkout/parity ")
    if notebook == "train_and_watch":
        assert install.endswith(f'"./checkout{extra}"')


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_notebook_is_kept_without_outputs_and_its_links_lead_somewhere(notebook: str) -> None:
    for cell in NOTEBOOKS[notebook]["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    links = re.findall(r"\]\(([^)]+)\)", "\n".join(cells(notebook, "markdown").values()))
    assert [link for link in links if not (ROOT / "examples" / link).is_file()] == []
    assert links

# mypy: allow-untyped-calls
# IPython's methods have no annotations.
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
from IPython.core.formatters import format_display_data
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets.config import Config

from tests.hackmatrix.train.test_command import FLAGS
from tests.project.shown_output import Carry
from tests.project.test_tutorials import in_process

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "examples").glob("*.ipynb"))}
SETTINGS: dict[str, dict[str, object]] = {
    "train_and_watch": {
        "SETTINGS": f"{FLAGS} --total-timesteps 128",  # a program that other tests compile, too
        "ENGINE": "swift",
        "EPISODES": 2,
    },
    "debug_a_reward": {"GAMES": 1, "STEPS": 20},
    "hold_a_port": {"GAMES": 2, "STEPS": 60},
}
"""Values instead of those in the cell that is tagged ``parameters``."""
SHOWN = {
    "train_and_watch": {"curve": ["image/png"], "watch": ["text/html"]},
    "debug_a_reward": {"diff": ["text/html"]},
    "hold_a_port": {"page": ["text/html"]},
}
"""Cells -> what they show besides text."""


class Shell(InteractiveShell):
    """A kernel without a process, which lists the commands of ``!`` lines, and runs them by ``carry``."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - traits of any type
        super().__init__(user_module=ModuleType("notebook"), **settings)
        self.carry: Carry = lambda command: (0, "")
        self.commands: list[str] = []

    def system(self, command: str) -> None:
        """What IPython calls for a line with ``!``."""
        self.carried_out(self.var_expand(command, depth=1))

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> list[str]:
        """What it calls for ``name = !command``: lines."""
        return self.carried_out(self.var_expand(cmd, depth=depth + 1)).splitlines()

    def carried_out(self, command: str) -> str:
        """Run a command, which must exit with 0, or as its comment says, and give what it prints."""
        self.commands.append(command)
        code, output = self.carry(command)
        assert code == ("# exit code 1" in command), f"! {command}\n{output[-5000:]}"
        return output

    def run_source(self, source: str) -> ExecutionResult:
        """Run a cell, and raise what it raises."""
        result = self.run_cell(source)
        result.raise_error()
        return result


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    variables = {"JAX_PLATFORMS": "cpu", "TERM": "dumb", "MPLBACKEND": "agg", "IPYTHONDIR": str(tmp_path / "ipython")}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    yield Shell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    Shell.clear_instance()


def cells(notebook: str, kind: str = "code") -> dict[str, str]:
    """Sources of its cells by id."""
    return {cell["id"]: "".join(cell["source"]) for cell in NOTEBOOKS[notebook]["cells"] if cell["cell_type"] == kind}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("swift_built")
@pytest.mark.parametrize(
    "notebook", [pytest.param(each, marks=pytest.mark.long if "train" in each else ()) for each in NOTEBOOKS]
)
def test_the_notebook_runs(notebook: str, shell: Shell, tmp_path: Path) -> None:
    shell.carry = in_process(tmp_path)
    shown = {}
    for cell, source in cells(notebook).items():
        result = shell.run_source(source)
        if cell == "parameters":
            assert set(SETTINGS[notebook]) <= set(shell.user_ns)
            shell.push(SETTINGS[notebook])
        formats, _ = format_display_data(result.result)
        if kinds := [kind for kind in formats if kind != "text/plain"]:
            shown[cell] = kinds
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

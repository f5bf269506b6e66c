"""The runner of ``studies/ports`` on a small pair: records, what changed, traces from resets, and cut runs."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import run as run_command

from rlparity.cli.main import main

PORTS = Path(__file__).resolve().parents[2] / "studies" / "ports"
PAIRING = '''
"""A count, and a port of it that pays {paid} where the count was three before."""
import numpy as np
from rlparity.adapters import Outcome, Pairing, SingleGame

class Count(SingleGame):
    paid = 1.0

    def begin(self, seed):
        self.count = seed % 3
        return np.int32([self.count])

    def act(self, action):
        reward = self.paid if self.count == 3 and action else float(action)
        self.count += action
        return Outcome(np.int32([self.count]), reward, self.count > 6)

class Port(Count):
    paid = {paid}

GAMES = {{"count": Count, "port": Port}}
POLICIES = {{"up": lambda view: np.tile([0, 1], (len(view.mask), 1))}}
COUNT = Pairing("count", GAMES, ("stay", "up"), (1,), policies=POLICIES, draws=None).world()
'''
RUNS = '[[run]]\nworld = "COUNT"\nengines = "count,port"\ngames = 4\nsteps = 40\npolicy = "up"\n'
SMALL = "--games", "8", "--steps", "40"
ADD = (
    *("ledger", "add", "known-differences.toml", "--world", "pairing:COUNT", "--id", "pays-twice", "--kind", "bug"),
    *("--citation", "Not found in a search", "--then", "ignore", "--share", "1", "--package", "numpy"),
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a module
    """The module, whose only pair is played by this interpreter."""
    monkeypatch.syspath_prepend(str(PORTS))
    import run

    (tmp_path / "count").mkdir()
    for name, text in {"pairing.py": PAIRING.format(paid=2.0), "runs.toml": RUNS, "README.md": "# Count\n"}.items():
        (tmp_path / "count" / name).write_text(text)
    (tmp_path / "count" / "requirements.txt").write_text("numpy\n")
    (tmp_path / "README.md").write_text("# All\n")
    monkeypatch.setattr(run, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run.Pair, "python", Path(sys.executable))
    return run


def reach(words: list[str]) -> int:
    runpy.run_path(str(PORTS / "reach.py"), run_name="__main__")
    return 0


def call_here(pair: Any, *words: str | Path, quiet: bool) -> "subprocess.CompletedProcess[str]":  # noqa: ANN401 - a Pair
    """What ``Pair.call`` returns, without starting a process."""
    _, module, *rest = words
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(pair.folder)
        patch.syspath_prepend(pair.folder)
        patch.setattr(sys, "argv", [module, *map(str, rest)])
        ran = run_command(reach if module == "reach" else main, *rest)
        sys.modules.pop("pairing")
    return subprocess.CompletedProcess(words, int(ran.code or 0), ran.out, ran.err)


def changes(run: Any, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:  # noqa: ANN401 - a module
    """What a run of all pairs says that changed."""
    code = run.run_all([run.Pair(folder / "count", folder / "out")], folder / "out")
    said = [line for line in capsys.readouterr().out.splitlines() if " -> " in line or line.startswith("Nothing")]
    assert code == int("Nothing changed." not in said)
    return said


def test_a_difference_is_recorded_with_how_it_is_reached_and_what_it_does(
    run: Any,  # noqa: ANN401 - a module
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = run.Pair(tmp_path / "count", tmp_path / "out")
    (first,) = pair.runs()
    assert pair.play(first, quiet=True).returncode == 1
    trace = next((tmp_path / "out").rglob("trace.json"))
    assert call_here(pair, "-m", "rlparity", *ADD, "--trace", trace, quiet=True).returncode == 0
    found = pair.call("-m", "reach", "find", "--world", "COUNT", "--engines", "count,port", *SMALL, quiet=True)
    assert found.stdout == "pays-twice: 2 actions\n", found.stderr
    monkeypatch.setattr(run.Pair, "call", call_here)
    monkeypatch.setattr(run, "WORKERS", 1)  # of whom all write to one standard output
    assert any("pays-twice: witness: None -> true" in line for line in changes(run, tmp_path, capsys))
    record = json.loads((tmp_path / "record.json").read_text())["count"]
    (shown,), difference = record["runs"].values(), record["differences"]["pays-twice"]
    assert (shown["verdict"], shown["steps"], difference["reached"], difference["actions"]) == ("LIMITED", 160, True, 2)
    assert difference["games"] == [shown["met"]["pays-twice"], shown["games"]] == [15, 17]
    assert shown["effect"]["policy:up"]["return"][2] == [1.0, 1.0, 1.0]
    page, table = ((tmp_path / name).read_text() for name in ("count/README.md", "README.md"))
    assert "| `pays-twice` | bug | shows | after 2 actions |" in page
    assert "| [Count](count/README.md) | | 160 | 1: 1 bug | 1 | 1 |" in table
    assert changes(run, tmp_path, capsys) == ["Nothing changed."]
    assert page.count("pays-twice") == (tmp_path / "count/README.md").read_text().count("pays-twice")

    (tmp_path / "count" / "pairing.py").write_text(PAIRING.format(paid=1.0))
    mended = changes(run, tmp_path, capsys)
    assert {"pays-twice: witness: true -> false", "pays-twice: reached: true -> false"} <= {
        line.removeprefix("count: differences: ") for line in mended
    }


def test_a_run_goes_on_where_it_was_cut(run: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a module
    pair, path = run.Pair(tmp_path / "count", tmp_path / "out"), tmp_path / "progress.json"
    first = run.Progress(path).result(pair, "run", "", lambda: {"verdict": "PASS"})
    assert run.Progress(path).result(pair, "run", "", lambda: pytest.fail("is done")) == first
    (tmp_path / "count" / "pairing.py").write_text("changed")
    assert run.Progress(path).result(pair, "run", "", lambda: {"verdict": "ERROR"}) != first


def test_the_interpreter_and_the_newest_releases_are_those_asked_for(run: Any, tmp_path: Path) -> None:  # noqa: ANN401
    assert run.interpreter("numpy==1.0\n") == sys.executable
    with pytest.raises(SystemExit, match=r"Python 9\.9 is missing"):
        run.interpreter("# python 9.9\nnumpy\n")
    (tmp_path / "count" / "requirements.txt").write_text("# python 3.12\nnumpy==1.0\nrich\n")
    assert run.Pair(tmp_path / "count", tmp_path, newest=True).requirements == "# python 3.12\nnumpy\nrich\n"
    (tmp_path / "count" / "runs.toml").write_text(f"newest = false\n{RUNS}")
    assert run.Pair(tmp_path / "count", tmp_path, newest=True).requirements == "# python 3.12\nnumpy==1.0\nrich\n"


def test_the_table_lists_what_is_compared(run: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a module
    (tmp_path / "count" / "requirements.txt").write_text("numpy==1.0\nrich==2.0\nscipy==3.0\n")
    run.tables.write(tmp_path, {})
    assert "| [Count](count/README.md) | rich 2.0, scipy 3.0 | 0 |" in (tmp_path / "README.md").read_text()
    (tmp_path / "count" / "runs.toml").write_text(f'compared = ["rich"]\n{RUNS}')
    run.tables.write(tmp_path, {})
    assert "| [Count](count/README.md) | rich 2.0 | 0 |" in (tmp_path / "README.md").read_text()

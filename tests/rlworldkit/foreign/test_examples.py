"""The programs in examples run: trainers of others on the environments."""

import os
import runpy
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
PACKAGES = {
    "with_rejax": "rejax",
    "with_torchrl": "torchrl",
    "with_tianshou": "tianshou",
    "with_rllib": "ray",
    "with_skrl": "skrl",
}
SLOW = {"with_rejax", "with_purejaxrl", "with_rllib", "without_a_mask"}
"""Those that compile the game, start processes of their own or train for long."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("swift_built")
@pytest.mark.parametrize(
    "program", [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in PROGRAMS]
)
def test_the_program_runs(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = PACKAGES.get(program)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install {'ray[rllib]' if package == 'ray' else package}")
    shutil.copy(ROOT / "tests" / "rlworldkit" / "foreign" / "purejaxrl_ppo.py", tmp_path / "ppo.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ppo", raising=False)  # tests of that name
    for name, value in {"HOME": str(tmp_path), "PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{ROOT / 'parity'}"}.items():
        monkeypatch.setenv(name, value)
    runpy.run_path(str(ROOT / "examples" / f"{program}.py"), run_name="__main__")
    output = capsys.readouterr().out.strip().splitlines()[-1]
    if program == "without_a_mask":
        assert f"`{output}`" in (ROOT / "docs" / "how-to" / "training.md").read_text()
    elif program == "with_cleanrl":
        assert output == "(1545,) 28"
        assert list(tmp_path.glob("videos/first/*.mp4"))
    elif program in ("with_torchrl", "with_rllib"):
        assert float(output.split()[0]) > 3, "these are masked, so games last longer than a step or two"
    else:
        assert output

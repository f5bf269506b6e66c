"""The programs in examples run: trainers of others on the environments."""

import os
import shutil
import subprocess
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
SLOW = {"with_rejax", "with_purejaxrl", "with_rllib"}
"""Those that compile the game, or start processes of their own."""


def run(program: str, folder: Path) -> str:
    """What the program prints at last; skipped, aloud, without its package."""
    package = PACKAGES.get(program)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install {'ray[rllib]' if package == 'ray' else package}")
    shutil.copy(ROOT / "examples" / f"{program}.py", folder)
    shutil.copy(ROOT / "tests" / "worldkit" / "foreign" / "purejaxrl_ppo.py", folder / "ppo.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", f"{program}.py"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.usefixtures("swift_built")
@pytest.mark.parametrize(
    "program", [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in PROGRAMS]
)
def test_the_program_runs(program: str, tmp_path: Path) -> None:
    said = run(program, tmp_path)
    if program == "without_a_mask":
        assert f"`{said}`" in (ROOT / "docs" / "how-to" / "training.md").read_text()
    elif program == "with_cleanrl":
        assert said == "(1545,) 28"
        assert list(tmp_path.glob("videos/first/*.mp4"))
    elif program in ("with_torchrl", "with_rllib"):
        assert float(said.split()[0]) > 3, "these are masked, so games last longer than a step or two"
    else:
        assert said

"""The programs of docs/other-trainers.md run as they stand there."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "other-trainers.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
PACKAGES = {"rejax": "rejax", "torchrl": "torchrl", "tianshou": "tianshou", "RLlib": "ray", "skrl": "skrl"}
SLOW = {"rejax", "PureJaxRL", "RLlib"}
"""Those that compile the game, or start processes of their own."""


def run(section: str, folder: Path) -> str:
    """What the section's program prints at last; skipped, aloud, without its package."""
    package = PACKAGES.get(section)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install {'ray[rllib]' if package == 'ray' else package}")
    (program,) = re.findall(r"```python\n(.*?)```", SECTIONS[section], re.DOTALL)
    shutil.copy(ROOT / "tests" / "worldkit" / "foreign" / "purejaxrl_ppo.py", folder / "ppo.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
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
    "section", [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in SECTIONS]
)
def test_the_program_runs(section: str, tmp_path: Path) -> None:
    said = run(section, tmp_path)
    if section == "Without a mask":
        assert f"`{said}`" in PAGE
    elif section == "CleanRL":
        assert said == "(1545,) 28"
        assert list(tmp_path.glob("videos/first/*.mp4"))
    elif section in ("torchrl", "RLlib"):
        assert float(said.split()[0]) > 3, "these are masked, so games last longer than a step or two"
    else:
        assert said

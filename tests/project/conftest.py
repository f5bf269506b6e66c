"""Fixtures of the tests of the project as a whole."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheels(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of both distributions, each built from its source distribution, by the name of the distribution."""
    folder = tmp_path_factory.mktemp("wheels")
    built = {}
    for name, source in {"hackmatrix": root, "rl-parity": root / "parity"}.items():
        out = folder / name
        for target, home in {"sdist": source, "wheel": out}.items():
            # -P: modules of the harness have names of the standard library's
            words = [sys.executable, "-P", "-m", "hatchling", "build", "--target", target, "--directory", str(out)]
            if target == "wheel":
                (archive,) = out.glob("*.tar.gz")
                subprocess.run(["tar", "-xzf", archive, "-C", out], check=True)
                (home,) = (path for path in out.iterdir() if path.is_dir())
            subprocess.run(words, cwd=home, capture_output=True, check=True)
        (built[name],) = out.glob("*.whl")
    return built

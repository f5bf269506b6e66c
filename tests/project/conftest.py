"""Fixtures of the tests of the project as a whole."""

import subprocess
import sys
from pathlib import Path

import pytest

DISTRIBUTIONS = {"rl-parity": "parity", "rlworldkit": "python/rlworldkit", "hackmatrix": "."}
"""The folder of each, those that need no other first."""


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def sources(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The unpacked source distributions of the distributions, by the name of the distribution."""
    folder = tmp_path_factory.mktemp("sources")
    unpacked = {}
    for name, home in DISTRIBUTIONS.items():
        (archive,) = build("sdist", root / home, folder / name).glob("*.tar.gz")
        subprocess.run(["tar", "-xzf", archive, "-C", archive.parent], check=True)
        unpacked[name] = archive.with_name(archive.name.removesuffix(".tar.gz"))
    return unpacked


@pytest.fixture(scope="session")
def wheels(sources: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of the distributions, each built from its source distribution, by the name of the distribution."""
    folder = tmp_path_factory.mktemp("wheels")
    return {name: next(build("wheel", home, folder / name).glob("*.whl")) for name, home in sources.items()}


def build(target: str, home: Path, folder: Path) -> Path:
    """Build a distribution of the project in ``home`` into ``folder``, and return that."""
    # -P: modules of the harness have names of the standard library's
    words = [sys.executable, "-P", "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(words, cwd=home, capture_output=True, check=True)
    return folder

"""What the tests of the house share."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def hackmatrix(root: Path) -> Command:
    """Run the console command in a process of its own."""

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "hackmatrix.cli.main", *words],
            env={**os.environ, "PYTHONPATH": str(root / "python"), "COLUMNS": "100"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run

"""Fixtures of the tests of the repository."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parents[2]

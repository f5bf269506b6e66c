"""Agents, as the tests of watching make them, and what reads a written page."""

import sys
from pathlib import Path

from tests.watch.conftest import model, params, run_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))

__all__ = ["model", "params", "run_folder"]

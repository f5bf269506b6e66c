"""Agents, as the tests of watching make them, and what reads a written page."""

from tests.hackmatrix.watch.conftest import model, params, run_folder

__all__ = ["model", "params", "run_folder"]

"""Agents, as the tests of watching make them."""

from tests.watch.conftest import model, params, run_folder

__all__ = ["model", "params", "run_folder"]

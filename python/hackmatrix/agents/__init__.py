"""Trained agents that come with the package, by name: files of parameters, next to the settings of their runs."""

from collections.abc import Mapping
from pathlib import Path

BEST = "best"
"""Name of the strongest agent."""

AGENTS: Mapping[str, Path] = {BEST: Path(__file__).parent / BEST / "params.npz"}
"""Parameter files by agent name; ``studies/ship_agent.py`` writes them."""

"""The trained agents that come with the package, by name: parameters, and beside them their run's settings."""

from collections.abc import Mapping
from pathlib import Path

BEST = "best"
"""The strongest one there is."""

AGENTS: Mapping[str, Path] = {BEST: Path(__file__).parent / BEST / "params.npz"}
"""The files by the agents' names; ``studies/ship_agent.py`` writes them."""

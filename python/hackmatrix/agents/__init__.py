"""The trained agents that come with the package, by name: parameters, and beside them their run's settings."""

from collections.abc import Mapping
from pathlib import Path

BEST = "best"
"""The strongest one there is."""

AGENTS: Mapping[str, Path] = {BEST: Path(__file__).parent / BEST / "params.npz"}
"""The files by the agents' names; ``studies/ship_agent.py`` writes them."""


def name_of(path: Path) -> str:
    """What people call the agent in a file: its name where it comes with the package, else that of the file."""
    return next((name for name, file in AGENTS.items() if file == path), path.name)

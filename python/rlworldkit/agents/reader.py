"""``AgentReader``: what a world says of its agents. It is light to import, so that a world's module may hold one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rlparity import World

if TYPE_CHECKING:
    from rlworldkit.agents.agent import Agent
    from rlworldkit.agents.numpy_network import Floats, NumpyEncoder

RANDOM = "random"
"""The name of the player that plays by chance."""


@dataclass(frozen=True)
class AgentReader:
    """How a world's agents are read, as its ``World.read_agent``: what it adds to that which holds for every world.

    networks: the encoders of its networks in numpy, by name.
    files: readers of kinds of files of its own, by the ends of their names.
    players: the logits that players of its own give observations and masks, by name.
    """

    networks: Callable[[], Mapping[str, NumpyEncoder | None]] = lambda: {"mlp": None}
    files: Mapping[str, Callable[[World, Path], Agent]] = field(default_factory=dict)
    players: Mapping[str, Callable[[NDArray[Any], NDArray[np.bool_]], Floats]] = field(default_factory=dict)

    def __call__(self, world: World, path: Path) -> Agent:
        """As ``read_agent``."""
        agent: Agent = resolve_name("rlworldkit.agents.read:read_agent")(world, path)
        return agent


def reader_of(world: World) -> AgentReader:
    """What a world says of its agents."""
    return world.read_agent if isinstance(world.read_agent, AgentReader) else AgentReader()

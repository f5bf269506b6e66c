"""A world's spaces, id and metadata for Gymnasium."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlparity import World
from rlworldkit.render.show import show_of

RENDER_MODES = ("ansi", "rgb_array", "human")


def env_id(world: World) -> str:
    """Return Gymnasium's id of a world's environments, such as ``Orchard-v0``."""
    return f"{world.title}-v0"


def register(world: World) -> str:
    """Register the environments of a world with Gymnasium, unless their id is taken already; return the id."""
    name = env_id(world)
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point="rlworldkit.envs.gym_env:WorldEnv",
            vector_entry_point="rlworldkit.envs.vector_env:WorldVectorEnv",
            kwargs={"world": world},
        )
    return name


def metadata_of(world: World) -> dict[str, Any]:
    """Return Gymnasium's metadata of a world's environment."""
    return {"render_modes": list(RENDER_MODES), "render_fps": show_of(world).frames_per_second}


def observation_space(world: World) -> Any:  # noqa: ANN401 - Gymnasium's Dict is no space of dicts to the type checker
    """Make a space of one game's observations; spaces are not shared, because each has a random generator."""
    if world.make_space is not None:
        return world.make_space()
    return spaces.Box(*world.observation_range, world.observation_shape, np.float32)


def action_space(world: World) -> "spaces.Discrete[np.int64]":
    """Make a space of the world's actions."""
    return spaces.Discrete(len(world.actions))

"""Opening the JAX engine of a world, without importing JAX before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rlparity import UsageError, World

if TYPE_CHECKING:
    from rlworldkit.jax.env import JaxEnv


def jax_env_of(world: World) -> JaxEnv:
    """The world in JAX, at its prices; raises UsageError where it has no engine there."""
    if world.jax is None:
        raise UsageError(f"{world.name} has no engine in JAX, which this needs: take a world that has one.")
    env: JaxEnv = world.jax()
    return env if world.price_values is None else env.with_prices(np.array(world.price_values, np.int32))

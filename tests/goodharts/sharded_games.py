"""Plays games on all devices of this process and on one of them, and prints ``the same`` where all their bits are.

Started by ``test_g_devices``, with as many devices as XLA_FLAGS says.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from goodharts.jax_env.env import Game
from goodharts.jax_env.tables import Variant
from goodharts.rules import MODES
from worldkit.jax.threefry import Seed, trainer_seeds
from worldkit.ppo import parallel

STEPS, GAMES_OF_A_DEVICE = 100, 3


def played(mode: str, mesh: Any) -> Any:  # noqa: ANN401 - trees
    """States, and what every step gave and showed."""
    game, games = Game(Variant(MODES[mode])), GAMES_OF_A_DEVICE * len(jax.devices())

    def one_step(state: Any, action: Any) -> Any:  # noqa: ANN401 - trees
        state, outcome = game.step(state, action)
        state = game.restart(state, outcome.terminated | outcome.truncated)
        return state, (outcome, game.observe(state))

    def play(keys: Seed, actions: Any) -> Any:  # noqa: ANN401 - trees
        return jax.lax.scan(parallel.over_games(one_step, mesh), parallel.over_games(game.reset, mesh)(keys), actions)

    actions = np.random.default_rng(0).integers(0, 8, (STEPS, games))
    state, told = jax.jit(play)(Seed(*trainer_seeds(7, games).T), jnp.asarray(actions, jnp.int32))
    assert mesh is None or len(state.food.sharding.device_set) == len(jax.devices())
    return jax.device_get((state, told))


def main(mode: str) -> int:
    mesh = parallel.mesh_of_all_devices(GAMES_OF_A_DEVICE * len(jax.devices()))
    assert mesh is not None
    split, alone = played(mode, mesh), played(mode, None)
    assert alone[1][0].terminated.any()
    for one, other in zip(jax.tree.leaves(split), jax.tree.leaves(alone), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    print(f"the same on {len(jax.devices())} devices")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Plays the same games on every device of this process, and prints ``the same`` where all their bits are.

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
from rlworldkit.jax.threefry import Seed, trainer_seeds
from rlworldkit.ppo import parallel

STEPS, GAMES_OF_A_DEVICE = 100, 3


def main(mode: str) -> int:
    game, devices = Game(Variant(MODES[mode])), len(jax.devices())
    mesh = parallel.mesh_of_all_devices(GAMES_OF_A_DEVICE * devices)
    assert mesh is not None

    def one_step(state: Any, action: Any) -> Any:  # noqa: ANN401 - trees
        state, outcome = game.step(state, action)
        state = game.restart(state, outcome.terminated | outcome.truncated)
        return state, (outcome, game.observe(state))

    def play(keys: Seed, actions: Any) -> Any:  # noqa: ANN401 - trees
        return jax.lax.scan(parallel.over_games(one_step, mesh), parallel.over_games(game.reset, mesh)(keys), actions)

    # the first device has them in order, and each of the others in another one than its neighbours
    game_of = (np.arange(devices)[:, None] + np.arange(GAMES_OF_A_DEVICE)).ravel() % GAMES_OF_A_DEVICE
    keys = trainer_seeds(7, GAMES_OF_A_DEVICE)[game_of]
    actions = np.random.default_rng(0).integers(0, 8, (STEPS, GAMES_OF_A_DEVICE))[:, game_of]
    state, (outcome, observations) = jax.jit(play)(Seed(*keys.T), jnp.asarray(actions, jnp.int32))
    assert len(state.food.sharding.device_set) == devices
    assert outcome.terminated.any()
    played = [*jax.tree.leaves(state), *(leaf.swapaxes(0, 1) for leaf in jax.tree.leaves((outcome, observations)))]
    for leaf in map(np.asarray, played):
        np.testing.assert_array_equal(leaf, leaf[game_of])
    print(f"the same on {devices} devices")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

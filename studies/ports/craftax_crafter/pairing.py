"""Crafter, and Craftax-Classic, its port to JAX, in the worlds that the port makes and without creatures."""

from functools import partial
from typing import Any

import crafter
import jax.numpy as jnp
import numpy as np
from blocks import FACINGS, blocks_of, place
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset
from crafter import constants
from mirrored import starts_of

from rlparity import Tolerance, World
from rlparity.adapters import Outcome, Pairing, PytreeGame, SingleGame

ENV = CraftaxClassicSymbolicEnvNoAutoReset()
CHANCES = "spawn_cow_chance", "spawn_zombie_base_chance", "spawn_zombie_night_chance", "spawn_skeleton_chance"
PARAMS = ENV.default_params.replace(**dict.fromkeys(CHANCES, 0.0))
NEEDS, CLOCKS = ("health", "food", "drink", "energy"), ("hunger", "thirst", "fatigue", "recover")
KIT = tuple(name for name in constants.items if name not in NEEDS)
UP, DOWN = FACINGS[3], FACINGS[4]


def observe(state: Any) -> dict[str, Any]:
    """What the port has of Crafter's world."""
    needs = [getattr(state, f"player_{name}") for name in NEEDS]
    return {
        "map": state.map,
        "player": jnp.array([*state.player_position, state.player_direction, state.is_sleeping]),
        "inventory": jnp.array([*needs, *(getattr(state.inventory, name) for name in KIT)]),
        "clocks": jnp.array([getattr(state, f"player_{name}") for name in CLOCKS], jnp.float32),
    }


def reset(key: Any) -> tuple[Any, Any]:
    """A game of the port."""
    state = ENV.reset_env(key, PARAMS)[1]
    return observe(state), state


def step(key: Any, state: Any, action: Any, ripe: int) -> tuple[Any, ...]:
    """A turn of the port; plants of an age of ``ripe`` are taken for as old as ripe ones."""
    ages = state.growing_plants_age
    state = state.replace(growing_plants_age=jnp.where(ages >= ripe, jnp.maximum(ages, 599), ages))
    _, state, reward, done, _ = ENV.step_env(key, state, action, PARAMS)
    return observe(state), state, reward, done


class Original(SingleGame):
    """Crafter; ``facing``: where the player looks at first; ``stones``: what a furnace costs."""

    def __init__(self, start: Any, facing: tuple[int, int], stones: int) -> None:
        self._start, self._facing, self._stones, self._env = start, facing, stones, crafter.Env(seed=0)
        self._env._obs = lambda: None  # pictures, which nobody compares
        self._env._balance_chunk = lambda *_: None  # where creatures come and go

    def begin(self, seed: int) -> Any:
        place(self._env, seed, self._start(seed), self._facing)
        return self._shown()

    def act(self, action: int) -> Outcome:
        constants.place["furnace"]["uses"]["stone"] = self._stones
        _, reward, done, _ = self._env.step(action)
        return Outcome(self._shown(), reward, done, False)

    def _shown(self) -> dict[str, Any]:
        player = self._env._player
        return {
            "map": blocks_of(self._env),
            "player": np.array([*player.pos[::-1], FACINGS.index(tuple(player.facing)), player.sleeping]),
            "inventory": np.array([*player.inventory.values()]),
            "clocks": np.array([getattr(player, f"_{name}") for name in CLOCKS], np.float32),
        }


def craftax(name: str, facing: tuple[int, int] = UP, stones: int = 4, ripe: int = 2**30) -> World:
    """The world of both."""
    turn = partial(step, ripe=ripe)
    return Pairing(
        name=name,
        games={
            "crafter": partial(Original, starts_of(lambda key: reset(key)[1]), facing, stones),
            "craftax": lambda: PytreeGame(reset, turn),
        },
        actions=tuple(constants.actions),
        observation_shape={"map": (64, 64), "player": (4,), "inventory": (4 + len(KIT),), "clocks": (4,)},
        tolerances=dict.fromkeys(("reward", "components"), Tolerance(absolute=1e-5, any_dtype=True, reason="float32")),
    ).world()


CRAFTAX, AS_IT_BEGINS = craftax("craftax"), craftax("craftax-as-it-begins", DOWN)
MENDED = craftax("craftax-mended", stones=1, ripe=301)
"""With two differences set aside, behind which others are: a furnace's price, and when plants are ripe."""

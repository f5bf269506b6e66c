"""Taxi of Gymnasium and its port, plain, in rain, and in rain with a fickle passenger."""

from functools import partial

import gymnasium
import numpy as np
from port import IN_TAXI, mask, observe, reset, step

from rlparity import State, World
from rlparity.adapters import GymGame, Pairing, PytreeGame


def riding(rng: np.random.Generator, *, is_fickle: bool) -> State:
    """A state with the passenger in the taxi, also shortly before the time is up."""
    seed, cell, destination, taken = map(int, rng.integers((2**31, 25, 4, 200)))
    fickle_step = is_fickle and bool(rng.integers(2))
    return {"seed": seed, "s": cell * 20 + IN_TAXI * 4 + destination, "fickle_step": fickle_step, "taken": taken}


def taxi(name: str, *, is_rainy: bool = False, is_fickle: bool = False) -> World:
    """The world of both with these options."""
    make = partial(gymnasium.make, "Taxi-v4", is_rainy=is_rainy, fickle_passenger=is_fickle)
    original = partial(GymGame, make, ("s", "fickle_step"), observe=lambda env: env.s, shared_draws=True)
    port = partial(PytreeGame, partial(reset, is_fickle=is_fickle), partial(step, is_rainy=is_rainy), observe)
    return Pairing(
        name=name,
        games={
            "gymnasium": lambda: original(mask=lambda env: env.action_mask(env.s)),
            "jax": lambda: port(mask=mask, shared_draws=True, time_limit=200),
        },
        actions=("south", "north", "east", "west", "pick", "drop"),
        observation_shape=(),
        state_fields=("s", "fickle_step", "taken"),
        starts={"riding": partial(riding, is_fickle=is_fickle)},
        # infos have no more than the mask and the probability of what happened
        accept=("infos are left out", *([] if is_fickle else ["state.fickle_step never varies"])),
    ).world()


TAXI = taxi("taxi")
RAINY = taxi("taxi-rainy", is_rainy=True)
FICKLE = taxi("taxi-fickle", is_rainy=True, is_fickle=True)

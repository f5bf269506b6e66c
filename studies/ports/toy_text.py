"""Draws of Gymnasium's toy_text that lead to what a port shows, so that its rules can be compared without its draws."""

from copy import copy
from typing import Any

import numpy as np

from rlparity.adapters.single import Outcome

TRIES = 200


def follow(env: Any, action: int, seen: Outcome) -> Any:
    """A generator with which an action leads to the port's cell or sum and its reward, as far as one does."""

    def likeness(seed: int) -> list[bool]:
        trial = copy(env)
        vars(trial).update({name: value.copy() for name, value in vars(env).items() if isinstance(value, list)})
        trial.np_random = np.random.default_rng(seed)
        shown, reward, *_ = trial.step(action)
        # who falls off a cliff and who runs into a wall may be in the same cell afterwards
        return [np.ravel(shown)[0] == np.ravel(seen.observation)[0], reward == seen.reward]

    seeds = range(TRIES)
    found = next((seed for seed in seeds if all(likeness(seed))), None)
    return np.random.default_rng(max(seeds, key=likeness) if found is None else found)

"""Whatever a policy or a person hands to an environment, checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parity.errors import UsageError


def check_seed(seed: int) -> int:
    """The seed; raises UsageError outside 0 … 2**64 − 1."""
    if not 0 <= seed < 1 << 64:
        raise UsageError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed}.")
    return seed


def check_action(action: Any, count: int) -> int:  # noqa: ANN401 - whatever a policy returns
    """The action; raises UsageError where it is none of 0 … count − 1."""
    number = int(action)
    if number != action or not 0 <= number < count:
        raise UsageError(f"an action is a whole number from 0 to {count - 1}, not {action}.")
    return number


def check_actions(actions: Any, games: int, count: int) -> NDArray[np.int32]:  # noqa: ANN401 - as above
    """One action for each game, int32 (games,); raises UsageError where one is none of 0 … count − 1."""
    given = np.asarray(actions)
    if given.shape != (games,):
        raise UsageError(f"there must be one action for each of {games} games, not an array of shape {given.shape}.")
    wrong = (given < 0) | (given >= count) | (given != np.floor(given))
    if wrong.any():
        check_action(given[wrong][0], count)
    return given.astype(np.int32)

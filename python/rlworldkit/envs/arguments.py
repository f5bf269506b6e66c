"""Validation of seeds, limits, actions and states that are handed to an environment."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity import State
from rlparity.errors import UsageError

UNLIMITED = -1
"""Value of ``max_episode_steps`` that lifts even the limit registered with Gymnasium."""
_JSON = (dict, list, tuple, bool, int, float, str, type(None))


def check_seed(seed: int) -> int:
    """Return the seed; raises UsageError outside 0 … 2**64 − 1."""
    if not 0 <= seed < 1 << 64:
        raise UsageError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed}.")
    return seed


def check_limit(max_episode_steps: int | None) -> int | None:
    """Return the limit, None for none; raises UsageError below 1, except for Gymnasium's -1, which means none, too."""
    if max_episode_steps is None or max_episode_steps == UNLIMITED:
        return None
    if max_episode_steps < 1:
        raise UsageError(f"max_episode_steps must be at least 1, not {max_episode_steps}; leave it out for no limit.")
    return max_episode_steps


def check_action(action: Any, count: int) -> int:  # noqa: ANN401 - whatever a policy returns
    """Return the action as an int; raises UsageError unless it is in 0 … count − 1."""
    if isinstance(action, (int, np.integer)) and 0 <= action < count:  # fast path for almost every action
        return int(action)
    return int(_checked(action, (), count, f"an action is a whole number from 0 to {count - 1}"))


def check_actions(actions: Any, games: int, count: int) -> NDArray[np.int32]:  # noqa: ANN401 - as above
    """Return one action for each game, int32 (games,); raises UsageError unless all are in 0 … count − 1."""
    wanted = f"a step takes one action for each of {games} games, a whole number from 0 to {count - 1}"
    return _checked(actions, (games,), count, wanted)


def _checked(given: Any, shape: tuple[int, ...], count: int, wanted: str) -> NDArray[np.int32]:  # noqa: ANN401
    try:
        array = np.asarray(given)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    if array.shape != shape or array.dtype.kind not in "biuf":  # bools, integers and floats
        text = " ".join(repr(given).split())
        raise UsageError(f"{wanted}, not {text if len(text) <= 80 else f'{text[:80]}…'}.")
    valid = (array >= 0) & (array < count) & (array == np.floor(array))  # all false for NaN
    if not valid.all():
        raise UsageError(f"{wanted}, not {array[~valid][0]}.")
    return array.astype(np.int32)


def plain_state(state: Any) -> State:  # noqa: ANN401 - whatever a person takes for a state
    """Convert a complete state to JSON values: NumPy's numbers, flags and arrays become plain Python.

    Raises UsageError, naming the place, if it contains any other value.
    """
    return _plain(state, "state", (dict,))


def _plain(value: Any, place: str, types: tuple[type, ...]) -> Any:  # noqa: ANN401 - a tree
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if not isinstance(value, types):
        kind = type(value).__name__
        raise UsageError(f"a state is a dict of JSON values, as get_state gives it, but {place} is of type {kind}.")
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                kind = type(name).__name__
                raise UsageError(f"a state names its values in words, but {place}.{name} has a name of type {kind}.")
        return {name: _plain(part, f"{place}.{name}", _JSON) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part, f"{place}[{index}]", _JSON) for index, part in enumerate(value)]
    return value

"""What a step showed of a game, as numbers that can be counted."""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.core.compare import STATE, Fields
from rlparity.engine import Array

NUM_FEATURES = 2**16
"""Features are hashed; two of them seldom share a number."""
_NUMBERS = f"{STATE}.", "facts", "mask"
_ODD = 0x9E3779B97F4A7C15
_WIDEST = 64
"""Numbers of a state array that are features one by one; of wider ones the numbers that are not 0 are counted."""


class Features:
    """Names the features of steps.

    They are: the action with the signs of the components, the events and the end; how many actions are valid; of what
    changes within games, whether each action is valid and the log2 range of every fact and of every number of the
    state. Rule marks are none: engines count them for all games together.
    """

    def __init__(self) -> None:
        self._buckets: NDArray[np.int64] | None = None
        self._changes: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def of_step(self, fields: Fields, actions: NDArray[Any], goes_on: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Numbers (games, features) below ``NUM_FEATURES``; ``goes_on`` (games,): in a segment that has begun."""
        games = len(actions)
        names = [name for name in ("components", "events", "terminated", "truncated") if name in fields]
        signs = [np.sign(np.asarray(fields[name], np.float64)).reshape(games, -1).astype(np.int64) for name in names]
        happened = np.concatenate([actions.reshape(games, -1)[:, :1].astype(np.int64), *signs], axis=1)
        columns = [happened @ (5 ** np.arange(happened.shape[1])[::-1])[:, None]]
        if "mask" in fields:
            columns.append(np.asarray(fields["mask"]).sum(axis=1, keepdims=True))
        numbers = [_ranges_of(np.asarray(fields[name])) for name in fields if name.startswith(_NUMBERS)]
        if STATE in fields:
            states = [list(map(_range_of, state.values())) for state in fields[STATE]]
            numbers.append(np.array(states, np.int64).reshape(games, -1))
        buckets = np.concatenate([*numbers, np.zeros((games, 0), np.int64)], axis=1)
        if self._buckets is None or self._buckets.shape != buckets.shape:
            self._buckets, self._changes = buckets, np.zeros(buckets.shape[1], np.bool_)
        # seeds do not change within a game, and are no features
        self._changes |= ((buckets != self._buckets) & goes_on[:, None]).any(axis=0)
        self._buckets = buckets
        every = np.concatenate([*columns, np.where(self._changes, buckets, 0)], axis=1)
        numbered = every.astype(np.uint64) + np.arange(every.shape[1], dtype=np.uint64) * np.uint64(_ODD >> 32)
        return (numbered * np.uint64(_ODD) >> np.uint64(48)).astype(np.int64)


def _ranges_of(values: Array) -> NDArray[np.int64]:
    """The log2 range of every number, (games, numbers)."""
    games = len(values)
    flat = values.reshape(games, -1)
    if flat.shape[1] > _WIDEST:
        flat = np.count_nonzero(values, axis=-1).reshape(games, -1)
    if flat.shape[1] > _WIDEST:
        flat = np.count_nonzero(values.reshape(games, -1), axis=1, keepdims=True)
    numbers = flat.astype(np.float64)
    return np.frexp(numbers)[1] * np.sign(numbers).astype(np.int64)


def _range_of(value: Any) -> int:  # noqa: ANN401 - a JSON value
    """The log2 range of a number or of a list's length; a hash of those of an object's values, or of a text."""
    if isinstance(value, str):
        return zlib.crc32(value.encode())
    if isinstance(value, Mapping):
        return hash(tuple(map(_range_of, value.values())))
    number = float(len(value) if isinstance(value, list) else value or 0)
    return int(np.frexp(number)[1]) * (1 if number >= 0 else -1)

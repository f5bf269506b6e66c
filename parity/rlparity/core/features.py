"""Features of a step: hashed numbers whose occurrences can be counted."""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.core.compare import STATE, Fields
from rlparity.engine import Array

NUM_FEATURES = 2**16
"""Number of hash buckets; two features rarely share one."""
_NUMBERS = f"{STATE}.", "facts", "mask"
_ODD = 0x9E3779B97F4A7C15
_WIDEST = 64
"""Maximum numbers of a field per game that are features one by one; wider fields count their nonzero numbers."""


class Features:
    """Feature extractor for steps.

    Features are: the action with the signs of the components, the events and the end flags; the number of valid
    actions; and, where it changes within a game, the validity of an action and the log2 range of a fact or of a number
    of the state. Rule marks are not used, because engines count them for all games together.
    """

    def __init__(self) -> None:
        self._buckets: NDArray[np.int64] | None = None
        self._changes: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def of_step(self, fields: Fields, actions: NDArray[Any], goes_on: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Features (games, features) below ``NUM_FEATURES``; ``goes_on`` (games,): not a segment's first step."""
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
        # what never changes within a game, such as its seed, is no feature
        self._changes |= ((buckets != self._buckets) & goes_on[:, None]).any(axis=0)
        self._buckets = buckets
        every = np.concatenate([*columns, np.where(self._changes, buckets, 0)], axis=1)
        numbered = every.astype(np.uint64) + np.arange(every.shape[1], dtype=np.uint64) * np.uint64(_ODD >> 32)
        return (numbered * np.uint64(_ODD) >> np.uint64(48)).astype(np.int64)


def _ranges_of(values: Array) -> NDArray[np.int64]:
    """Signed log2 range of every number, (games, numbers)."""
    games = len(values)
    flat = values.reshape(games, -1)
    if flat.shape[1] > _WIDEST:
        flat = np.count_nonzero(values, axis=-1).reshape(games, -1)
    if flat.shape[1] > _WIDEST:
        flat = np.count_nonzero(values.reshape(games, -1), axis=1, keepdims=True)
    numbers = flat.astype(np.float64)
    return np.frexp(numbers)[1] * np.sign(numbers).astype(np.int64)


def _range_of(value: Any) -> int:  # noqa: ANN401 - a JSON value
    """Signed log2 range of a number or of a list's length; a hash of a text, or of the ranges of an object's values."""
    if isinstance(value, str):
        return zlib.crc32(value.encode())
    if isinstance(value, Mapping):
        return hash(tuple(map(_range_of, value.values())))
    number = float(len(value) if isinstance(value, list) else value or 0)
    return int(np.frexp(number)[1]) * (1 if number >= 0 else -1)

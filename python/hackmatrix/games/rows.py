"""What an engine says of many games after a step, a start or a look."""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NUM_FACTS = 5
FACTS = ("stage", "score", "hp", "turn")
"""The first facts of a row; the last one is the sum of its flags."""


class Flag(IntEnum):
    """The bits of the last fact."""

    INVALID_ACTION = 1
    STAGE_COMPLETE = 2
    DEATH = 4
    VICTORY = 8
    STARTED_ANEW = 16


class Rows(NamedTuple):
    """What an engine says of r games. The arrays may be overwritten by its next answer.

    seeds: uint64 (r,). components: int32 (r, 15), thousandths. facts: uint32 (r, 5): stage, score, hp, turn,
    flags. observation: float32 or, compact, uint8 (r, 1545), or None. mask: bool (r, 28). terminated: bool (r,).
    """

    seeds: NDArray[np.uint64]
    components: NDArray[np.int32]
    facts: NDArray[np.uint32]
    observation: NDArray[Any] | None
    mask: NDArray[np.bool_]
    terminated: NDArray[np.bool_]


def rewards(components: NDArray[np.int32]) -> NDArray[np.float32]:
    """The rewards float32 (r,) of components (r, 15): float32(total) / float32(1000) (W)."""
    return components.sum(axis=1, dtype=np.int32).astype(np.float32) / np.float32(1000)

"""The draws of the game (R2, R4, R5): what their sites are for, and how words pick cells and entries of a list.

Words of all cells are computed at once; unused ones shift nothing (R2). The full explanation is in
``docs/randomness.md``. A draw is marked (R5) where a rule uses it.
"""

from collections.abc import Sequence
from enum import IntEnum

import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix.jax_env.bitboard import HALF, Cells, is_any, single
from hackmatrix.rules import NUM_CELLS
from worldkit.jaxkit.batching import computed_once
from worldkit.jaxkit.threefry import Draws


class Site(IntEnum):
    """The purposes of draws (table of R5)."""

    START = 1
    BONUS = 2
    EXIT = 3
    BLOCK_COUNT = 4
    BLOCK_CELL = 5
    QUESTION = 6
    DATA = 7
    POINTS = 8
    PROGRAM = 9
    AMOUNT = 10
    RESOURCE = 11
    STAGE_CELL = 12
    STAGE_TYPE = 13
    SCHEDULE_CELL = 14
    SCHEDULE_TYPE = 15
    SIPHON_CELL = 16
    SIPHON_TYPE = 17
    WARP = 18
    POLY = 19
    ORDER = 20
    STEP = 21


def cell_index(group: Array | int, cell: Array) -> Array:
    """The index (uint32) of a cell in a site that has one word for each cell of several groups (R5)."""
    return group * np.uint32(NUM_CELLS) + cell


def cell_words(draws: Draws, site: Array | int, group: Array | int = 0) -> Array:
    """The words of all cells at ``cell_index(group, cell)``: uint32 (cells, *batch).

    ``site`` and ``group`` are constants or have the batch shape.
    """
    return draws.words(site, NUM_CELLS, group)


def pick(cells: Cells, words: Array) -> Cells:
    """The cell of the set with the smallest word, ties to the lower cell (R5), as a set of at most one.

    ``words`` is uint32 (cells, *batch).
    """
    return single(computed_once(jnp.any(is_any(cells)), _index_of_smallest, cells, words)).where(is_any(cells))


def _index_of_smallest(cells: Cells, words: Array) -> Array:
    index = jnp.full(words.shape[1:], NUM_CELLS, jnp.uint32)
    smallest = jnp.zeros(words.shape[1:], jnp.uint32)
    for cell in range(NUM_CELLS):
        half, bit = (cells.low, cell) if cell < HALF else (cells.high, cell - HALF)
        member = (half >> np.uint32(bit)) & 1 == 1
        # the first member counts even when its word is the largest there is
        better = member & ((words[cell] < smallest) | (index == NUM_CELLS))
        smallest = jnp.where(better, words[cell], smallest)
        index = jnp.where(better, np.uint32(cell), index)
    return index


def nth_true(flags: Sequence[Array], n: Array) -> list[Array]:
    """One-hot flags of the n-th (from 0, int32) true entry of a list: "one of a list" in its order (R5)."""
    seen = jnp.int32(0)
    chosen = []
    for flag in flags:
        chosen.append(flag & (seen == n))
        seen = seen + flag.astype(jnp.int32)
    return chosen

"""The draws of the game (R2, R4, R5): what their sites are for, and how words pick cells and entries of a list.

Words of all cells are computed at once; unused ones shift nothing (R2). A draw is marked (R5) where a rule uses it.
"""

from collections.abc import Callable
from enum import IntEnum

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hackmatrix.jax_env.bitboard import Cells, is_any, single
from hackmatrix.rules import NUM_CELLS
from rlworldkit.jax.batching import computed_once
from rlworldkit.jax.marks import is_collecting_words
from rlworldkit.jax.threefry import Draws

Site = IntEnum(
    "Site",
    "START BONUS EXIT BLOCK_COUNT BLOCK_CELL QUESTION DATA POINTS PROGRAM AMOUNT RESOURCE STAGE_CELL STAGE_TYPE "
    "SCHEDULE_CELL SCHEDULE_TYPE SIPHON_CELL SIPHON_TYPE WARP POLY ORDER STEP",
)
"""The purposes of draws, numbered from 1 (table of R5)."""


_NUM_INDICES = 100 * NUM_CELLS
"""No site has more: those of B4 have a word for each cell of each attempt."""


def cell_index(group: Array | int, cell: Array) -> Array:
    """The index (uint32) of a cell in a site that has one word for each cell of several groups (R5)."""
    return group * np.uint32(NUM_CELLS) + cell


def cell_words(draws: Draws, site: Array | int, group: Array | int = 0) -> Array:
    """uint32 (cells, *batch) words at ``cell_index(group, cell)``; site, group: constant or of the batch shape."""
    return draws.words(site, NUM_CELLS, group)


def note_word(draws: Draws, site: int, index: Array | int, word: Array, used: Callable[[], Array]) -> None:
    """Tell a debugger that a rule draws a word where ``used`` gives true; word: of any shape (..., games)."""
    draws.note(Site(site).name, _NUM_INDICES, index, word, used)


def note_cells(draws: Draws, site: int, words: Array, cells: Callable[[], Cells], group: Array | int = 0) -> None:
    """Tell a debugger that a rule draws those of the ``cell_words`` that belong to a set of cells."""
    if is_collecting_words():
        indices = jnp.arange(NUM_CELLS, dtype=jnp.uint32).reshape(-1, *(1,) * (words.ndim - 1))
        index = cell_index(jnp.asarray(group, jnp.uint32), indices)
        note_word(draws, site, index, words, lambda: _is_member(cells(), indices))


def _is_member(cells: Cells, indices: Array | NDArray[np.uint64]) -> Array:
    return (cells.word >> indices.astype(np.uint64)) & np.uint64(1) == 1


def pick(cells: Cells, words: Array) -> Cells:
    """The cell of the set with the smallest of the (cells, *batch) words, the lower one at ties (R5), as a set."""
    return single(computed_once(jnp.any(is_any(cells)), _index_of_smallest, cells, words)).where(is_any(cells))


_CELL_BITS = np.uint64((NUM_CELLS - 1).bit_length())


def _index_of_smallest(cells: Cells, words: Array) -> Array:
    # a word with its cell below it, and for cells that are not of the set what is larger than any of these
    indices = np.arange(NUM_CELLS, dtype=np.uint64).reshape(-1, *(1,) * (words.ndim - 1))
    keys = (words.astype(jnp.uint64) << _CELL_BITS) | indices
    keys = jnp.where(_is_member(cells, indices), keys, np.uint64(2**64 - 1))
    while len(keys) > 1:  # halved, and not reduced, which takes longer on CPUs
        half = (len(keys) + 1) // 2
        keys = jnp.minimum(keys[:half], keys[-half:])
    return (keys[0] & np.uint64((1 << int(_CELL_BITS)) - 1)).astype(jnp.uint32)

"""The draws of the game (R2, R4, R5): what their sites are for, and how words pick cells and entries of a list.

Words of all cells are computed at once; unused ones shift nothing (R2). A draw is marked (R5) where a rule uses it.
"""

from collections.abc import Callable
from enum import IntEnum

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from hackmatrix.jax_env.bitboard import Cells, index_of, is_any, lowest, single
from hackmatrix.rules import NUM_CELLS
from rlworldkit.jax.batching import computed_once, repeat
from rlworldkit.jax.marks import is_collecting_words
from rlworldkit.jax.target import in_rows, is_tracing_for
from rlworldkit.jax.threefry import EventDraws

Site = IntEnum(
    "Site",
    "START BONUS EXIT BLOCK_COUNT BLOCK_CELL QUESTION DATA POINTS PROGRAM AMOUNT RESOURCE STAGE_CELL STAGE_TYPE "
    "SCHEDULE_CELL SCHEDULE_TYPE SIPHON_CELL SIPHON_TYPE WARP POLY ORDER STEP",
)
"""The purposes of draws, numbered from 1 (table of R5)."""


_NUM_INDICES = 100 * NUM_CELLS
"""Most indices of a site: the sites of B4 have a word for each cell of each attempt."""


PAIRED = np.arange(NUM_CELLS).reshape(-1, 2).T
"""The cells in the order of random words: those with even indices, and those with odd ones (2, cells / 2)."""
_ONE, _WORD_BITS = np.uint64(1), np.uint64(32)


def cell_index(group: Array | int, cell: Array) -> Array:
    """The index (uint32) of a cell in a site that has one word for each cell of several groups (R5)."""
    return group * np.uint32(NUM_CELLS) + cell


def cell_words(draws: EventDraws, site: Array | int, group: Array | int = 0) -> Array:
    """uint32 words at ``cell_index(group, cell)``, in the order of ``PAIRED``: (2, cells / 2, *batch).

    site, group: constant or of the batch shape. For a TPU the words have the games in rows (``in_rows``).
    """
    if is_tracing_for("tpu") and not is_collecting_words():
        draws, site, group = jax.tree.map(lambda leaf: in_rows(leaf) if jnp.ndim(leaf) else leaf, (draws, site, group))
    return draws.word_pairs(site, NUM_CELLS // 2, group)


def note_word(draws: EventDraws, site: int, index: Array | int, word: Array, used: Callable[[], Array]) -> None:
    """Tell a debugger that a rule draws a word where ``used`` gives true; word: of any shape (..., games)."""
    draws.note(Site(site).name, _NUM_INDICES, index, word, used)


def note_cells(draws: EventDraws, site: int, words: Array, cells: Callable[[], Cells], group: Array | int = 0) -> None:
    """Tell a debugger that a rule draws those of the ``cell_words`` that belong to a set of cells."""
    if is_collecting_words():
        index = cell_index(jnp.asarray(group, jnp.uint32), _paired_like(words))
        note_word(draws, site, index, words, lambda: membership(cells(), words))


def pack(flags: Array) -> Cells:
    """The set of the cells whose flag holds; ``flags`` is bool (2, cells / 2, *batch), in the order of ``PAIRED``.

    A batch of games in rows (``rlworldkit.jax.target``) becomes a flat one.
    """
    weights = (_ONE << PAIRED.astype(np.uint64)).reshape(*PAIRED.shape, *(1,) * (flags.ndim - 2))
    words = jnp.sum(jnp.where(flags, weights, np.uint64(0)), axis=(0, 1), dtype=jnp.uint64)
    return Cells(words.reshape(-1) if words.ndim else words)


def membership(cells: Cells, like: Array) -> Array:
    """Whether each cell belongs to a set: bool (2, cells / 2, *batch), in the order of ``PAIRED``, as ``like`` is."""
    paired = PAIRED.reshape(*PAIRED.shape, *(1,) * (like.ndim - 2)).astype(np.uint64)
    word = cells.word.reshape(like.shape[2:]) if cells.word.ndim else cells.word
    if not is_tracing_for("tpu"):
        return (word >> paired) & _ONE == _ONE
    # a TPU has only 32-bit words
    words = jnp.where(paired < _WORD_BITS, word.astype(jnp.uint32), (word >> _WORD_BITS).astype(jnp.uint32))
    return words & (np.uint32(1) << (paired % _WORD_BITS).astype(np.uint32)) != 0


def pick(cells: Cells, words: Array) -> Cells:
    """The cell of the set with the smallest of the ``cell_words``, the lower one at ties (R5), as a set."""
    index = computed_once(jnp.any(is_any(cells)), _index_of_smallest, cells, words)
    batch = cells.word.shape if cells.word.ndim else (-1,) * (words.ndim > 2)
    return single(index.reshape(batch)).where(is_any(cells))


def pick_several(cells: Cells, words: Array, how_many: Array, most: int) -> Cells:
    """Pick ``how_many`` cells (int32, at most ``most``) one after another, each from the cells that are left (B4)."""
    if is_tracing_for("tpu"):
        return _pick_by_rank(cells, words, how_many)

    def take(i: Array, picked: Cells) -> Cells:
        return picked | pick((cells & ~picked).where(i < how_many), words)

    return repeat(most, take, cells ^ cells)


def _pick_by_rank(cells: Cells, words: Array, how_many: Array) -> Cells:
    """Pick the first ``how_many`` cells of the set in the order of their words, without a loop."""
    member, index = membership(cells, words), _paired_like(words)
    other, other_index = words[:, :, None, None], index[:, :, None, None]
    comes_first = (other < words) | ((other == words) & (other_index < index))
    rank = jnp.sum(member[:, :, None, None] & comes_first, axis=(0, 1), dtype=jnp.int32)
    picked = pack(member & (rank < how_many.reshape(words.shape[2:])))
    return Cells(picked.word.reshape(cells.word.shape))


_LARGEST = np.uint32(2**32 - 1)
_CELL_BITS = np.uint64((NUM_CELLS - 1).bit_length())


def _index_of_smallest(cells: Cells, words: Array) -> Array:
    if is_tracing_for("tpu"):
        return _index_by_reduction(cells, words)
    # a key is a word above its cell index; cells outside the set get a key larger than any other
    keys = (words.astype(jnp.uint64) << _CELL_BITS) | _paired_like(words).astype(jnp.uint64)
    keys = jnp.where(membership(cells, words), keys, np.uint64(2**64 - 1))
    keys = jnp.minimum(*keys)
    while len(keys) > 1:  # by halving, because a reduction takes longer on CPUs
        half = (len(keys) + 1) // 2
        keys = jnp.minimum(keys[:half], keys[-half:])
    return (keys[0] & np.uint64((1 << int(_CELL_BITS)) - 1)).astype(jnp.uint32)


def _index_by_reduction(cells: Cells, words: Array) -> Array:
    """``_index_of_smallest`` as one 32-bit reduction: on a TPU, halving would take an operation for each half."""
    keys, indices = (
        jnp.where(membership(cells, words), words, _LARGEST),
        jnp.broadcast_to(_paired_like(words), words.shape),
    )
    smallest, index = lax.reduce((keys, indices), (_LARGEST, np.uint32(0)), _smaller_pair, (0, 1))
    # where all words of the set are the largest one, the reduction may have found a cell outside the set
    first = jnp.broadcast_to(index_of(lowest(cells)).reshape(-1), index.size).reshape(index.shape)
    return jnp.where(smallest == _LARGEST, first, index)


def _smaller_pair(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    """The smaller of two keys with its index; of equal keys, the one with the lower index."""
    is_other = (other[0] < one[0]) | ((other[0] == one[0]) & (other[1] < one[1]))
    return jnp.where(is_other, other[0], one[0]), jnp.where(is_other, other[1], one[1])


def _paired_like(words: Array) -> Array:
    """``PAIRED`` as uint32, in a shape that broadcasts against words."""
    return jnp.asarray(PAIRED, jnp.uint32).reshape(*PAIRED.shape, *(1,) * (words.ndim - 2))

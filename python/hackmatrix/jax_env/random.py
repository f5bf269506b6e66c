"""Addressed random draws (R1-R5): every word is a pure function of (seed, event number, site, index).

Words of all 36 cells are computed at once; unused ones shift nothing (R2). The full explanation is in
``docs/randomness.md``.
"""

from collections.abc import Sequence
from enum import IntEnum

import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix.jax_env.batching import computed_once
from hackmatrix.jax_env.bitboard import HALF, NUM_CELLS, Cells, is_any, single
from hackmatrix.jax_env.state import Seed

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_FOLLOW_UP_EVENT = np.uint32(0xFFFFFFFF)
"""Event number of the draws that make other seeds (R6); a game reaches it only after 2**32 - 1 actions."""


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


def threefry2x32(key: Seed, counter: tuple[Array, Array]) -> tuple[Array, Array]:
    """Threefry-2x32 with 20 rounds (R4; Salmon et al. 2011), elementwise on uint32 arrays."""
    keys = (key.low, key.high, key.low ^ key.high ^ _PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = x + y
            y = ((y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))) ^ x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def _counter(site: Array | int, pair: Array | int) -> Array:
    return jnp.asarray(site, jnp.uint32) * jnp.uint32(1 << 16) + jnp.asarray(pair, jnp.uint32)


def word(seed: Seed, event: Array, site: Array | int, index: Array | int) -> Array:
    """The word (uint32) of one address; ``index`` is uint32 or a constant."""
    index = jnp.asarray(index, jnp.uint32)
    even, odd = threefry2x32(seed, (event, _counter(site, index >> 1)))
    return jnp.where(index & 1 == 0, even, odd)


def cell_words(seed: Seed, event: Array, site: Array | int, group: Array | int = 0) -> Array:
    """The words at the indices ``36 * group + cell`` of all cells: uint32 (36, *batch).

    ``site`` and ``group`` are constants or have the batch shape.
    """
    base = _counter(site, jnp.asarray(group, jnp.uint32) * jnp.uint32(18))
    pairs = jnp.arange(18, dtype=jnp.uint32).reshape((18,) + (1,) * event.ndim)
    even, odd = threefry2x32(seed, (event, base + pairs))
    return jnp.stack([even, odd], axis=1).reshape((36, *even.shape[1:]))


def below(random: Array, n: Array | int) -> Array:
    """An integer in 0..n-1 from a word: ``(word * n) >> 32`` exactly (R5), as int32; n is below 2**16."""
    n = jnp.asarray(n).astype(jnp.uint32)
    high, low = random >> 16, random & jnp.uint32(0xFFFF)
    return ((high * n + ((low * n) >> 16)) >> 16).astype(jnp.int32)


def pick(cells: Cells, words: Array) -> Cells:
    """The cell of the set with the smallest word, ties to the lower cell (R5), as a set of at most one.

    ``words`` is uint32 (36, *batch).
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


def next_seed(seed: Seed) -> Seed:
    """The seed of the game that follows one that ended (R6)."""
    zero = jnp.zeros_like(seed.low)
    return Seed(*threefry2x32(seed, (zero + _FOLLOW_UP_EVENT, zero)))


def trainer_seeds(seed: Seed, num_games: int) -> Seed:
    """The seeds of a trainer's games 0..num_games-1 (R6), each word uint32 (num_games,)."""
    games = jnp.arange(num_games, dtype=jnp.uint32)
    return Seed(*threefry2x32(seed, (jnp.full_like(games, _FOLLOW_UP_EVENT), games + jnp.uint32(1))))

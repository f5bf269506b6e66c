"""Sets of cells of the grid as bits (G1): ``plane[cell // 32]`` has the cell's bit ``cell % 32``.

Planes are uint32 (n, 512), cells int32 (n, …). What is looked at is gathered; only ``lowest`` passes over a plane.
"""

import jax.numpy as jnp
from jax import Array

from goodharts.rules import NUM_CELLS

BITS = 32
"""Cells in a word."""
WORDS = NUM_CELLS // BITS


def bit(cells: Array) -> Array:
    """The cells' bits within their words, uint32."""
    return jnp.uint32(1) << (cells % BITS).astype(jnp.uint32)


def holds(plane: Array, cells: Array) -> Array:
    """Whether cells (n, k) are in the sets, bool (n, k)."""
    return jnp.take_along_axis(plane, cells // BITS, axis=1) & bit(cells) != 0


def toggled(plane: Array, cells: Array, wanted: Array) -> Array:
    """The sets with one cell (n,) each put in, or taken out where it was in; as they are where not ``wanted`` (n,)."""
    change = jnp.where(wanted, bit(cells), jnp.uint32(0))
    place = jnp.arange(len(plane)), cells // BITS
    return plane.at[place].set(plane[place] ^ change)


def with_cells(plane: Array, cells: Array, wanted: Array) -> Array:
    """The sets with those cells (n, k) put in that are ``wanted`` (n, k); they are distinct and were not in before."""
    games = jnp.arange(len(plane))[:, None]
    return plane.at[games, cells // BITS].add(jnp.where(wanted, bit(cells), jnp.uint32(0)))


def lowest(plane: Array) -> Array:
    """The lowest cell of each set, int32 (n,); sets are not empty."""
    word = jnp.argmax(plane != 0, axis=1)
    bits = jnp.take_along_axis(plane, word[:, None], axis=1)[:, 0]
    # what is below the lowest bit alone: as many bits as its number says
    below = jnp.bitwise_count((bits & -bits) - jnp.uint32(1))
    return (word * BITS + below).astype(jnp.int32)

"""Sets of cells of the grid as bits (G1): ``plane[cell // 32]`` has the cell's bit ``cell % 32``.

Planes are uint32 (n, 512), cells int32 (n, …). Reads gather single words; only ``lowest`` and ``flags`` read a whole
plane.
"""

import jax.numpy as jnp
import numpy as np
from jax import Array

from goodharts.rules import NUM_CELLS

BITS = 32
"""Cells in a word."""
WORDS = NUM_CELLS // BITS
_OUT_AND_IN = np.array([2**BITS - 1, 1], np.uint32)


def bit(cells: Array) -> Array:
    """The cells' bits within their words, uint32."""
    return jnp.uint32(1) << (cells % BITS).astype(jnp.uint32)


def words(plane: Array, index: Array) -> Array:
    """The words (n, k) of the sets at ``index`` (n, k), which is within 0 … 511."""
    # the promise is kept by the rules (G1), and spares looking after every index: a fifth of a step's time
    return jnp.take_along_axis(plane, index, axis=1, mode="promise_in_bounds")


def holds(plane: Array, cells: Array) -> Array:
    """Membership of cells (n, k) in the sets, bool (n, k)."""
    return words(plane, cells // BITS) & bit(cells) != 0


def moved(plane: Array, source: Array, target: Array, wanted: Array) -> Array:
    """Remove a cell (n,) from each set and add another one (n,) where ``wanted`` (n,); other sets stay unchanged."""
    cells = jnp.stack([source, target], axis=1)
    # modulo 2³² a bit that is added to a word appears in it, and one that is subtracted vanishes, even in the same word
    change = jnp.where(wanted[:, None], bit(cells) * _OUT_AND_IN, jnp.uint32(0))
    return plane.at[jnp.arange(len(plane))[:, None], cells // BITS].add(change, mode="promise_in_bounds")


def flags(plane: Array) -> Array:
    """1 for each cell of the sets (…, 512), int8 (…, 16384)."""
    bits = plane[..., None] >> np.arange(BITS, dtype=np.uint32) & 1
    return bits.astype(jnp.int8).reshape(*plane.shape[:-1], NUM_CELLS)


def lowest(plane: Array) -> Array:
    """The lowest cell of each set, int32 (n,); sets are not empty."""
    word = jnp.argmax(plane != 0, axis=1)
    bits = words(plane, word[:, None])[:, 0]
    # the bits below the lowest set bit: their count is its index
    below = jnp.bitwise_count((bits & -bits) - jnp.uint32(1))
    return (word * BITS + below).astype(jnp.int32)

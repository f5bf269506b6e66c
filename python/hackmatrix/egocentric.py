"""The board as it lies around the player, and the layer of a network that reads it.

A field with the player in its middle has 121 places for the 36 cells of the board, so most of its places are zero. A
layer that reads the field multiplies all of them, unless it knows where the board lies: then it needs only the weights
of a window of 36 places. Where many samples see the board from the same cell, the window is fetched once for all of
them, and a third of the work is left.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.typing import Initializer
from jax import Array, lax

from hackmatrix.rules import SIZE

SIGHT = 2 * SIZE - 1
"""A view of this width, its middle at the player, holds the board wherever the player stands."""
_ROWS = 128
"""Samples that are multiplied with a window at once: with fewer, windows are fetched too often; with more, too many
samples belong to another cell."""

Made = TypeVar("Made")


class EgocentricBoard(NamedTuple):
    """Input of a layer: the board around the player, 0 off the board, and then all other values."""

    board: Array
    """Features of every cell: (..., 6, 6, features)."""
    place: Array
    """The player's row and column, int32 (..., 2)."""
    others: Array
    """All other values: (..., n)."""

    def laid_out(self) -> Array:
        """The field around the player and the other values side by side: (..., width)."""
        seen = jnp.vectorize(_field, signature="(r,c,f),(p)->(s,s,f)")(self.board, self.place)
        return jnp.concatenate([seen.reshape(*seen.shape[:-3], -1), self.others], axis=-1)

    def times(self, kernel: Array, is_sorted: bool) -> Array:
        """``laid_out()`` times ``kernel`` (width, outputs): (..., outputs).

        Where samples are sorted by the player's cell, the field is not laid out; the result is the same up to the order
        in which floats are summed.
        """
        if not is_sorted:
            return self.laid_out() @ kernel
        size = SIGHT, SIGHT, self.board.shape[-1]
        seen = _product(
            self.board.reshape(-1, SIZE * SIZE * size[2]),
            self.place.reshape(-1, 2),
            kernel[: math.prod(size)].reshape(*size, -1),
        )
        return seen.reshape(*self.others.shape[:-1], -1) + self.others @ kernel[math.prod(size) :]


class FirstLayer(nn.Module):
    """``nn.Dense`` on an ``EgocentricBoard``. is_sorted: the samples are sorted by the player's cell."""

    features: int
    dtype: jnp.dtype
    kernel_init: Initializer
    is_sorted: bool

    @nn.compact
    def __call__(self, seen: EgocentricBoard) -> Array:
        """Apply the layer: (..., features)."""
        width = SIGHT * SIGHT * seen.board.shape[-1] + seen.others.shape[-1]
        kernel = self.param("kernel", self.kernel_init, (width, self.features))
        bias = self.param("bias", nn.initializers.zeros_init(), (self.features,))
        return seen.times(kernel.astype(self.dtype), self.is_sorted) + bias.astype(self.dtype)


def _field(board: Array, place: Array) -> Array:
    """One board (6, 6, features) in a field (11, 11, features) whose middle is the cell ``place``, int32 (2,)."""
    field = jnp.zeros((SIGHT, SIGHT, board.shape[-1]), board.dtype)
    # a write, whose gradient is a read; the gradient of a read would be a slow scatter
    return lax.dynamic_update_slice(field, board, (*_corner(place), 0))


def _corner(place: Array) -> Array:
    """The place of the board's first cell in the field of a player in this cell, int32 (2,)."""
    return SIZE - 1 - place


class _Chunk(NamedTuple):
    """Consecutive samples from ``start`` on; ``mine``, bool (rows,), flags those that see the board from one cell.

    The window of the weights (11, 11, features, outputs) for the cells of their board begins at ``corner``.
    """

    start: Array
    mine: Array
    corner: tuple[Array, ...]

    def of(self, samples: Array) -> Array:
        return lax.dynamic_slice_in_dim(samples, self.start, len(self.mine))

    def written(self, samples: Array, rows: Array) -> Array:
        rows = jnp.where(self.mine[:, None], rows, self.of(samples))
        return lax.dynamic_update_slice_in_dim(samples, rows, self.start, axis=0)

    def window(self, weights: Array) -> Array:
        size = (SIZE, SIZE, *weights.shape[2:])
        return lax.dynamic_slice(weights, self.corner, size).reshape(-1, weights.shape[3])


@jax.custom_vjp
def _product(boards: Array, places: Array, weights: Array) -> Array:
    """Boards (n, 36 * features) around the players' cells, int32 (n, 2), times weights (11, 11, features, outputs)."""

    def add(made: Array, chunk: _Chunk) -> Array:
        return chunk.written(made, chunk.of(boards) @ chunk.window(weights))

    return _in_chunks(places, add, jnp.zeros((len(boards), weights.shape[3]), boards.dtype))


def _backward(given: tuple[Array, ...], gradient: Array) -> tuple[Array, None, Array]:
    boards, places, weights = given

    def add(made: tuple[Array, Array], chunk: _Chunk) -> tuple[Array, Array]:
        of_boards, of_weights = made
        above = jnp.where(chunk.mine[:, None], chunk.of(gradient), 0)
        more = jnp.matmul(chunk.of(boards).T, above, preferred_element_type=jnp.float32) + chunk.window(of_weights)
        window = more.reshape(SIZE, SIZE, *weights.shape[2:])
        of_boards = chunk.written(of_boards, above @ chunk.window(weights).T)
        return of_boards, lax.dynamic_update_slice(of_weights, window, chunk.corner)

    # float32, since bfloat16 is too imprecise for so many successive sums
    nothing = jnp.zeros_like(boards), jnp.zeros(weights.shape, jnp.float32)
    of_boards, of_weights = _in_chunks(places, add, nothing)
    return of_boards, None, of_weights.astype(weights.dtype)


_product.defvjp(lambda *given: (_product(*given), given), _backward)


def _in_chunks(places: Array, add: Callable[[Made, _Chunk], Made], nothing: Made) -> Made:
    """Call ``add`` for chunk after chunk, each with samples of one cell, in the order of the samples."""
    rows = min(_ROWS, len(places))

    def body(state: tuple[Array, Made]) -> tuple[Array, Made]:
        first, made = state
        start = jnp.minimum(first, len(places) - rows)  # the last chunk ends where the samples do
        since_first = start + jnp.arange(rows) >= first
        others = jnp.any(lax.dynamic_slice_in_dim(places, start, rows) != places[first], axis=1)
        mine = since_first & (jnp.cumsum(since_first & others) == 0)
        corner = *_corner(places[first]), jnp.int32(0), jnp.int32(0)
        return first + mine.sum(dtype=jnp.int32), add(made, _Chunk(start, mine, corner))

    return lax.while_loop(lambda state: state[0] < len(places), body, (jnp.int32(0), nothing))[1]

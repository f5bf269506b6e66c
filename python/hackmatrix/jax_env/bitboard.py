"""Sets of cells and small numbers per cell, as bits (A1, A2).

A set of cells is two 32-bit words: ``low`` holds rows 0-2 (cells 0-17), ``high`` rows 3-5. A
number per cell is a tuple of such sets, its binary digits, lowest first ("bit planes"). Moving every
cell of a set, counting or comparing numbers on all cells at once is then a handful of shifts and ands
on two words, and over a batch of games each word is one vector.

All functions work on leaves of any one common shape, the batch shape; every word is uint32.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from hackmatrix import rules

HALF = 18
"""Cells in each of the two words."""
HALF_MASK = np.uint32((1 << HALF) - 1)
COLUMN = np.uint32(0b000001_000001_000001)
NOT_FIRST_COLUMN = np.uint32(HALF_MASK & ~COLUMN)
NOT_LAST_COLUMN = np.uint32(HALF_MASK & ~(COLUMN << np.uint32(5)))


class Cells(NamedTuple):
    """A set of cells: bit i of ``low`` is cell i, bit i of ``high`` is cell 18 + i (both uint32)."""

    low: Array
    high: Array

    def __and__(self, other: "Cells") -> "Cells":
        return Cells(self.low & other.low, self.high & other.high)

    def __or__(self, other: "Cells") -> "Cells":
        return Cells(self.low | other.low, self.high | other.high)

    def __xor__(self, other: "Cells") -> "Cells":
        return Cells(self.low ^ other.low, self.high ^ other.high)

    def __invert__(self) -> "Cells":
        return Cells(self.low ^ HALF_MASK, self.high ^ HALF_MASK)

    def where(self, condition: Array) -> "Cells":
        """This set where ``condition`` holds, else the empty set."""
        zero = jnp.uint32(0)
        return Cells(jnp.where(condition, self.low, zero), jnp.where(condition, self.high, zero))


Number = tuple[Cells, ...]
"""A number per cell: its bit planes, lowest digit first."""


def constant(cells: Iterable[int]) -> Cells:
    """The set of the given cell indices, as NumPy words that broadcast against any batch."""
    bits = sum(1 << cell for cell in cells)
    return Cells(np.uint32(bits & int(HALF_MASK)), np.uint32(bits >> HALF))  # type: ignore[arg-type]


EMPTY = constant([])
ALL = constant(range(rules.NUM_CELLS))
CORNERS = constant(rules.CORNERS)


def single(cell: Array) -> Cells:
    """The set that holds one cell (uint32 index)."""
    one = jnp.uint32(1)
    in_low = cell < HALF
    return Cells(
        jnp.where(in_low, one << jnp.where(in_low, cell, 0), 0),
        jnp.where(in_low, 0, one << jnp.where(in_low, 0, cell - HALF)),
    )


def select(condition: Array, yes: Cells, no: Cells) -> Cells:
    """``yes`` where the condition holds, else ``no``."""
    return Cells(jnp.where(condition, yes.low, no.low), jnp.where(condition, yes.high, no.high))


def is_any(cells: Cells) -> Array:
    """Whether the set holds any cell (bool)."""
    return (cells.low | cells.high) != 0


def count(cells: Cells) -> Array:
    """How many cells the set holds (int32)."""
    return (lax.population_count(cells.low) + lax.population_count(cells.high)).astype(jnp.int32)


def overlaps(a: Cells, b: Cells) -> Array:
    """Whether two sets share a cell (bool)."""
    return is_any(a & b)


def lowest(cells: Cells) -> Cells:
    """The set of the lowest cell only (empty for an empty set)."""
    low = cells.low & (~cells.low + jnp.uint32(1))
    high = cells.high & (~cells.high + jnp.uint32(1))
    return Cells(low, jnp.where(cells.low == 0, high, 0))


def index_of(cell: Cells) -> Array:
    """The index of the only cell of a set (uint32; the number of cells for an empty set)."""
    below_low, below_high = (lax.population_count(half - jnp.uint32(1)) for half in cell)
    return jnp.where(
        cell.low != 0, below_low, jnp.where(cell.high != 0, HALF + below_high, jnp.uint32(rules.NUM_CELLS))
    )


# ---------------------------------------------------------------------------------------------- A2


def up(c: Cells) -> Cells:
    """Every cell moved one row up; what leaves the board is dropped."""
    return Cells((c.low << 6) & HALF_MASK, ((c.high << 6) & HALF_MASK) | (c.low >> 12))


def down(c: Cells) -> Cells:
    """Every cell moved one row down."""
    return Cells((c.low >> 6) | ((c.high << 12) & HALF_MASK), c.high >> 6)


def left(c: Cells) -> Cells:
    """Every cell moved one column to the left."""
    return Cells((c.low & NOT_FIRST_COLUMN) >> 1, (c.high & NOT_FIRST_COLUMN) >> 1)


def right(c: Cells) -> Cells:
    """Every cell moved one column to the right."""
    return Cells((c.low & NOT_LAST_COLUMN) << 1, (c.high & NOT_LAST_COLUMN) << 1)


DIRECTIONS: tuple[Callable[[Cells], Cells], ...] = (up, down, left, right)


def neighbours(c: Cells) -> Cells:
    """The orthogonal neighbours of every cell of the set."""
    return up(c) | down(c) | left(c) | right(c)


def cross(c: Cells) -> Cells:
    """The cells of the set and their orthogonal neighbours (S1)."""
    return c | neighbours(c)


def eight_neighbours(c: Cells) -> Cells:
    """The cells of the 3x3 squares around the set, without the set itself."""
    band = c | left(c) | right(c)
    return (band | up(band) | down(band)) & ~c


def row_of(cell: Array) -> Array:
    """The row of a cell index (int32)."""
    return (cell // 6).astype(jnp.int32)


def column_of(cell: Array) -> Array:
    """The column of a cell index (int32)."""
    return (cell % 6).astype(jnp.int32)


def same_row(cell: Array) -> Cells:
    """All cells of the row of a cell index."""
    row = cell // 6
    bits = jnp.uint32(0b111111)
    in_low = row < 3
    return Cells(
        jnp.where(in_low, bits << (6 * jnp.where(in_low, row, 0)), 0),
        jnp.where(in_low, 0, bits << (6 * jnp.where(in_low, 0, row - 3))),
    )


def same_column(cell: Array) -> Cells:
    """All cells of the column of a cell index."""
    word = jnp.uint32(COLUMN) << (cell % 6)
    return Cells(word, word)


# ------------------------------------------------------------------------------------ numbers per cell


def value_at(number: Number, cell: Cells) -> Array:
    """The value at the only cell of ``cell`` (int32; 0 for an empty set)."""
    return total(number, cell)


def total(number: Number, cells: Cells) -> Array:
    """The sum of the values over a set of cells (int32)."""
    return sum((count(plane & cells) << digit for digit, plane in enumerate(number)), start=jnp.int32(0))


def write(number: Number, cells: Cells, value: Array | int) -> Number:
    """The number with ``value`` (int32, one per game) written on every cell of the set."""
    digits = [(jnp.asarray(value, jnp.int32) >> i) & 1 == 1 for i in range(len(number))]
    return tuple((plane & ~cells) | cells.where(digit) for plane, digit in zip(number, digits, strict=True))


def clear(number: Number, cells: Cells) -> Number:
    """The number with 0 on every cell of the set."""
    return tuple(plane & ~cells for plane in number)


def equals(number: Number, value: Array | int) -> Cells:
    """The cells whose value is the given one, a constant or one number for all games."""
    cells = ALL
    for digit, plane in enumerate(number):
        if isinstance(value, int):
            cells = cells & (plane if value >> digit & 1 else ~plane)
        else:
            cells = cells & select((value >> digit) & 1 == 1, plane, ~plane)
    return cells


def is_nonzero(number: Number) -> Cells:
    """The cells whose value is not 0."""
    cells = number[0]
    for plane in number[1:]:
        cells = cells | plane
    return cells


def decrement(number: Number, cells: Cells) -> Number:
    """1 less, at least 0, on every cell of the set."""
    borrow = cells & is_nonzero(number)
    planes = []
    for plane in number:
        planes.append(plane ^ borrow)
        borrow = borrow & ~plane
    return tuple(planes)


def add_saturating(number: Number, cells: Cells, amount: int) -> Number:
    """A constant more on every cell of the set, at most the largest value of the planes."""
    carry = EMPTY
    planes = []
    for digit, plane in enumerate(number):
        addend = cells if amount >> digit & 1 else EMPTY
        planes.append(plane ^ addend ^ carry)
        carry = (plane & addend) | (carry & (plane ^ addend))
    return tuple(plane | carry for plane in planes)


def add(a: Number, b: Number) -> Number:
    """The sum of two numbers per cell, one digit longer than the longer of them."""
    width = max(len(a), len(b))
    carry: Cells = EMPTY
    planes = []
    for digit in range(width):
        x = a[digit] if digit < len(a) else EMPTY
        y = b[digit] if digit < len(b) else EMPTY
        planes.append(x ^ y ^ carry)
        carry = (x & y) | (carry & (x ^ y))
    return (*planes, carry)


def cross_sum(number: Number) -> Number:
    """For every cell the sum of the values in its cross (S1), three digits longer."""
    shifted = [tuple(move(plane) for plane in number) for move in DIRECTIONS]
    return add(add(add(number, shifted[0]), add(shifted[1], shifted[2])), shifted[3])


def relocate(plane: Cells, origin: Cells, target: Cells) -> Cells:
    """The plane with the bit of ``origin`` moved to ``target`` (both one cell, or both empty)."""
    return (plane & ~(origin | target)) | target.where(overlaps(plane, origin))


def pack(flags: Array) -> Cells:
    """The set of the cells whose flag holds; ``flags`` is bool with a leading axis of all cells."""
    weights = (jnp.uint32(1) << jnp.arange(HALF, dtype=jnp.uint32)).reshape((HALF,) + (1,) * (flags.ndim - 1))
    low, high = (
        jnp.sum(jnp.where(half, weights, jnp.uint32(0)), axis=0, dtype=jnp.uint32)
        for half in (flags[:HALF], flags[HALF:])
    )
    return Cells(low, high)

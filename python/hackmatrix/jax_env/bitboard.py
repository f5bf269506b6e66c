"""Sets of cells and small numbers per cell, as bits (A1, A2).

A set of cells is one 64-bit word, bit i for cell i. A number per cell is a tuple of such sets, its binary
digits, lowest first ("bit planes"). Moving every cell of a set, counting or comparing numbers on all cells at
once is then a few shifts and ands on a word, and over a batch of games each word is one vector.

All functions work on leaves of one common shape, the batch shape. JAX has 64-bit arrays only within
`jax.enable_x64`, which training code need not enable: between steps a state stores each set as a ``WordPair``.
"""

from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from hackmatrix import rules

Tree = TypeVar("Tree")

HALF = 18
"""Cells in each half of the board."""
_BOARD = np.uint64((1 << rules.NUM_CELLS) - 1)
_COLUMN = np.uint64(sum(1 << cell for cell in range(0, rules.NUM_CELLS, rules.SIZE)))
_NOT_FIRST_COLUMN = np.uint64(_BOARD & ~_COLUMN)
_NOT_LAST_COLUMN = np.uint64(_BOARD & ~(_COLUMN << np.uint64(rules.SIZE - 1)))
_NONE = np.uint64(0)
_ONE = np.uint64(1)


class Cells(NamedTuple):
    """A set of cells: bit i of ``word`` (uint64) is cell i."""

    word: Array

    def __and__(self, other: "Cells") -> "Cells":
        return Cells(self.word & other.word)

    def __or__(self, other: "Cells") -> "Cells":
        return Cells(self.word | other.word)

    def __xor__(self, other: "Cells") -> "Cells":
        return Cells(self.word ^ other.word)

    def __invert__(self) -> "Cells":
        return Cells(self.word ^ _BOARD)

    def where(self, condition: Array) -> "Cells":
        """This set where ``condition`` holds, else the empty set."""
        return Cells(jnp.where(condition, self.word, _NONE))


Number = tuple[Cells, ...]
"""A number per cell: its bit planes, lowest digit first."""


def constant(cells: Iterable[int]) -> Cells:
    """The set of cell indices, as a NumPy word that broadcasts against any batch."""
    return Cells(np.uint64(sum(1 << cell for cell in cells)))  # type: ignore[arg-type]


EMPTY = constant([])
ALL = constant(range(rules.NUM_CELLS))
CORNERS = constant(rules.CORNERS)


def single(cell: Array) -> Cells:
    """The set that holds one cell (uint32 index)."""
    return Cells(_ONE << cell.astype(jnp.uint64))


def select(condition: Array, yes: Cells, no: Cells) -> Cells:
    """``yes`` where the condition holds, else ``no``."""
    return Cells(jnp.where(condition, yes.word, no.word))


def is_any(cells: Cells) -> Array:
    """Return whether the set holds any cell (bool)."""
    return cells.word != _NONE


def count(cells: Cells) -> Array:
    """Count the cells of the set (int32)."""
    return lax.population_count(cells.word).astype(jnp.int32)


def overlaps(a: Cells, b: Cells) -> Array:
    """Return whether two sets share a cell (bool)."""
    return is_any(a & b)


def lowest(cells: Cells) -> Cells:
    """The set of the lowest cell only (empty for an empty set)."""
    return Cells(cells.word & (~cells.word + _ONE))


def index_of(cell: Cells) -> Array:
    """The index of the only cell of a set (uint32; the number of cells for an empty set)."""
    # an empty word minus 1 has all bits set, and the mask keeps those of the board
    return lax.population_count((cell.word - _ONE) & _BOARD).astype(jnp.uint32)


def up(c: Cells) -> Cells:
    """Every cell moved one row up; cells that leave the board are dropped."""
    return Cells((c.word << np.uint64(rules.SIZE)) & _BOARD)


def down(c: Cells) -> Cells:
    """Every cell moved one row down."""
    return Cells(c.word >> np.uint64(rules.SIZE))


def left(c: Cells) -> Cells:
    """Every cell moved one column to the left."""
    return Cells((c.word & _NOT_FIRST_COLUMN) >> _ONE)


def right(c: Cells) -> Cells:
    """Every cell moved one column to the right."""
    return Cells((c.word & _NOT_LAST_COLUMN) << _ONE)


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
    row = np.uint64((1 << rules.SIZE) - 1)
    return Cells(row << (cell - cell % 6).astype(jnp.uint64))


def same_column(cell: Array) -> Cells:
    """All cells of the column of a cell index."""
    return Cells(_COLUMN << (cell % 6).astype(jnp.uint64))


def total(number: Number, cells: Cells) -> Array:
    """The sum of the values over a set of cells (int32); for a single cell, its value."""
    return sum((count(plane & cells) << digit for digit, plane in enumerate(number)), start=jnp.int32(0))


def write(number: Number, cells: Cells, value: Array | int) -> Number:
    """The number with ``value`` (int32, one per game) written on every cell of the set."""
    digits = [(jnp.asarray(value, jnp.int32) >> i) & 1 == 1 for i in range(len(number))]
    return tuple((plane & ~cells) | cells.where(digit) for plane, digit in zip(number, digits, strict=True))


def equals(number: Number, value: Array | int) -> Cells:
    """The cells whose value equals ``value``, which is a constant or a traced number for all games."""
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
    """Subtract 1, but not below 0, on every cell of the set."""
    borrow = cells & is_nonzero(number)
    planes = []
    for plane in number:
        planes.append(plane ^ borrow)
        borrow = borrow & ~plane
    return tuple(planes)


def add_saturating(number: Number, cells: Cells, amount: int) -> Number:
    """Add a constant on every cell of the set, up to the largest value that the planes can hold."""
    carry = EMPTY
    planes = []
    for digit, plane in enumerate(number):
        addend = cells if amount >> digit & 1 else EMPTY
        planes.append(plane ^ addend ^ carry)
        carry = (plane & addend) | (carry & (plane ^ addend))
    return tuple(plane | carry for plane in planes)


def add(a: Number, b: Number) -> Number:
    """The sum of two numbers per cell, one digit longer than the longer of them."""
    carry = EMPTY
    planes = []
    for x, y in zip_longest(a, b, fillvalue=EMPTY):
        planes.append(x ^ y ^ carry)
        carry = (x & y) | (carry & (x ^ y))
    return (*planes, carry)


def cross_sum(number: Number) -> Number:
    """For every cell the sum of the values in its cross (S1), three digits longer."""
    shifted = [tuple(move(plane) for plane in number) for move in DIRECTIONS]
    return add(add(add(number, shifted[0]), add(shifted[1], shifted[2])), shifted[3])


def clear(planes: Tree, cells: Cells) -> Tree:
    """Remove some cells from every plane of a pytree; a number is 0 there."""
    keep = ~cells
    cleared: Tree = jax.tree.map(lambda word: word & keep.word, planes)
    return cleared


def relocate(planes: Tree, origin: Cells, target: Cells) -> Tree:
    """A pytree of planes with the bit of ``origin`` moved to ``target`` (both one cell, or both empty)."""
    keep = ~(origin | target)

    def moved(word: Array) -> Array:
        plane = Cells(word)
        return ((plane & keep) | target.where(overlaps(plane, origin))).word

    relocated: Tree = jax.tree.map(moved, planes)
    return relocated


class WordPair(NamedTuple):
    """A set of cells: bit i of ``low`` is cell i, bit i of ``high`` is cell 18 + i (both uint32)."""

    low: Array
    high: Array


def to_pair(cells: Cells) -> WordPair:
    """The set as two words: rows 0-2 and rows 3-5."""
    low = cells.word.astype(jnp.uint32) & np.uint32((1 << HALF) - 1)
    return WordPair(low, (cells.word >> np.uint64(HALF)).astype(jnp.uint32))


def _to_cells(pair: WordPair) -> Cells:
    return Cells(pair.low.astype(jnp.uint64) | (pair.high.astype(jnp.uint64) << np.uint64(HALF)))


def to_pairs(tree: Tree) -> Tree:
    """Replace every ``Cells`` of a pytree by a ``WordPair``."""
    return _with_each(Cells, to_pair, tree)


def on_pairs(core: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function on ``Cells`` so that it takes and returns pytrees with ``WordPair``.

    While ``core`` is traced, numbers and indices without an explicit dtype are 64 bits wide, so ``core`` must give one.
    """

    def converting(*args: Any) -> Any:
        with jax.enable_x64(True):
            return to_pairs(core(*_with_each(WordPair, _to_cells, args)))

    return converting


def _with_each(kind: type, function: Callable[[Any], Any], tree: Tree) -> Tree:
    """Apply ``function`` to every node of one type in a pytree."""

    def is_one(node: Any) -> bool:
        return isinstance(node, kind)

    changed: Tree = jax.tree.map(lambda node: function(node) if is_one(node) else node, tree, is_leaf=is_one)
    return changed

"""Cells of the board by row and column (A1, A2), and the cells of a state's entries."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from hackmatrix.rules import DIRECTIONS, SIZE

Place = tuple[int, int]
"""(row, col)"""
CELLS: tuple[Place, ...] = tuple(product(range(SIZE), range(SIZE)))
"""All cells in row-major order (A1)."""


def place_of(entry: Mapping[str, Any]) -> Place:
    """The cell of an entry of a state."""
    return entry["row"], entry["col"]


def places(entries: Iterable[Mapping[str, Any]]) -> set[Place]:
    """The cells of entries of a state."""
    return {place_of(entry) for entry in entries}


def around(place: Place) -> list[Place]:
    """The orthogonal neighbours on the board, in direction order (A2)."""
    row, col = place
    return [near for up, right in DIRECTIONS if (near := (row + up, col + right)) in CELLS]


def cell_name(place: Place) -> str:
    """A cell in words: ``(row,col)``."""
    return "({},{})".format(*place)

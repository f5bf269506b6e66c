"""Drawn boards compared, and their values as the texts that reports show."""

from __future__ import annotations

import json
from collections.abc import Sequence

from parity.world import Board


def value_text(value: object) -> str:
    """A value as every report shows it; whole numbers keep all their digits."""
    return value if isinstance(value, str) else json.dumps(value)


def differing_cells(boards: Sequence[Board]) -> set[tuple[int, int]]:
    """(row, column) of the cells whose texts differ between two boards, row 0 on top."""
    one, other = (
        {(row, column): text for row, texts in enumerate(board.rows) for column, text in enumerate(texts)}
        for board in boards
    )
    return {place for place in one.keys() | other.keys() if one.get(place) != other.get(place)}


def differing_scalars(boards: Sequence[Board]) -> set[str]:
    """The names in two boards' tables whose values differ."""
    one, other = (board.scalars for board in boards)
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}

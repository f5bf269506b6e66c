"""A state as a person reads it in the harness's reports."""

from collections.abc import Mapping
from typing import Any

from hackmatrix.render.model import NUMBERS, board_model
from hackmatrix.render.words import cell_text
from hackmatrix.rules import SIZE
from parity import Board

ROW_NAMES = tuple(str(row) for row in reversed(range(SIZE)))
"""The rows of a drawn board, the top one first (A1)."""


def draw_board(state: Mapping[str, Any]) -> Board:
    """The cells of a complete state, row 5 on top, as ``cell_text`` says them, and every single value."""
    model = board_model(state)
    scalars = {
        "ownedPrograms": " ".join(model.owned_programs) or "none",
        **{word: getattr(model, name) for name, word in NUMBERS.items()},
        "history": "none" if model.record_turn is None else f"turn {model.record_turn}",
    }
    return Board(tuple(tuple(map(cell_text, row)) for row in model.rows), scalars)

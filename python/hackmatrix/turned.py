"""Inputs of the network `turned`: observations with the exit at the top right, and the cells near the player.

The rules prefer no direction except in ties (E8, P-PUSH, P-PULL). A network that sees turned boards learns once what it
would otherwise learn for four places of the exit and both sides of the diagonal.
"""

from typing import Any, NamedTuple

from hackmatrix.rules import CELL_FEATURES, DIRECTIONS, GRID_PART, PLAYER_PART, SIZE
from rlworldkit.ppo.symmetry import Symmetry

_SQUARE = range(-2, 3)
NEAR = (
    *((row, column) for row in _SQUARE for column in _SQUARE),
    *((row * far, column * far) for row, column in DIRECTIONS for far in range(3, SIZE)),
)
"""Offsets (rows, columns) from the player to the 37 cells near it: the square within two cells, and the rest of its row
and column, along which it attacks (V1)."""
_EXIT = CELL_FEATURES.index("exit")


class BoardTurn(NamedTuple):
    """Changes to boards, bool (n, 1) each, in this order: rows reversed, columns reversed, both exchanged."""

    rows: Any
    columns: Any
    exchanged: Any


def turned(observations: Any, xp: Any) -> tuple[Any, BoardTurn]:  # noqa: ANN401 - arrays of either module
    """Turn observations (n, 1545) so that the exit is in row 5, column 5, and the player's column is at most its row.

    Returns them with their `BoardTurn`. The player's other numbers and the owned programs stay. An observation without
    an exit is turned as if its exit were in row 5, column 5.
    """
    count = len(observations)
    board = observations[:, GRID_PART].reshape(count, SIZE, SIZE, len(CELL_FEATURES))
    exits = board[:, :, :, _EXIT]
    rows, columns = exits[:, 0].sum(axis=1).reshape(count, 1) == 1, exits[:, :, 0].sum(axis=1).reshape(count, 1) == 1
    row, column = observations[:, 0:1], observations[:, 1:2]
    row, column = xp.where(rows, 1 - row, row), xp.where(columns, 1 - column, column)
    exchanged = xp.sign(xp.rint((column - row) * (SIZE - 1))) == 1
    board = xp.where(rows.reshape(count, 1, 1, 1), board[:, ::-1], board)
    board = xp.where(columns.reshape(count, 1, 1, 1), board[:, :, ::-1], board)
    board = xp.where(exchanged.reshape(count, 1, 1, 1), board.transpose(0, 2, 1, 3), board)
    row, column = xp.where(exchanged, column, row), xp.where(exchanged, row, column)
    others = observations[:, PLAYER_PART.start + 2 : GRID_PART.start]
    parts = [row, column, others, board.reshape(count, SIZE * SIZE * len(CELL_FEATURES))]
    return xp.concatenate(parts, axis=1), BoardTurn(rows, columns, exchanged)


def turned_back(logits: Any, turn: BoardTurn, xp: Any) -> Any:  # noqa: ANN401 - arrays of either module
    """Map logits (n, 28) of turned boards back to the original boards: those of the moves (A2) change places."""
    up, down, left, right = (logits[:, move : move + 1] for move in range(4))
    up, right = xp.where(turn.exchanged, right, up), xp.where(turn.exchanged, up, right)
    down, left = xp.where(turn.exchanged, left, down), xp.where(turn.exchanged, down, left)
    up, down = xp.where(turn.rows, down, up), xp.where(turn.rows, up, down)
    left, right = xp.where(turn.columns, right, left), xp.where(turn.columns, left, right)
    return xp.concatenate([up, down, left, right, logits[:, 4:]], axis=1)


SYMMETRY = Symmetry(turned, turned_back)

"""Moves and positions of chess, shogi and their small variants: as texts, and as pgx numbers them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

UNDERPROMOTIONS = "rbn"
CHESS, SHOGI = "pnbrqk", "PLNSBRGK"
DROPPED = 20
"""The first of pgx's directions of shogi that is a drop."""
DIRECTIONS = {(0, 1): 0, (-1, 1): 1, (1, 1): 2, (-1, 0): 3, (1, 0): 4, (0, -1): 5, (-1, -1): 6, (1, -1): 7}
"""Of shogi: where a piece comes from, as signs of columns and rows -> pgx's direction."""


def chess_label(uci: str, white: bool, size: int, planes: Any) -> int:
    """The label of a move on a board of ``size`` rows; planes: pgx's table of from and to -> plane."""
    squares = [(ord(uci[at]) - ord("a"), int(uci[at + 1]) - 1) for at in (0, 2)]
    start, end = (file * size + (rank if white else size - 1 - rank) for file, rank in squares)
    kinds = 9 + 8 * (size - 1) + 8
    if uci[4:] and uci[4] in UNDERPROMOTIONS:
        aside = squares[1][0] - squares[0][0]
        return start * kinds + 3 * UNDERPROMOTIONS.index(uci[4]) + aside % 3
    return start * kinds + int(planes[start, end])


def chess_board(fen: str) -> NDArray[np.int8]:
    """The position of a FEN, White's last row first: 1 … 6 for White's pawn, knight, bishop, rook, queen and king."""
    rows = []
    for text in fen.split()[0].split("/"):
        row: list[int] = []
        for sign in text:
            kind = CHESS.find(sign.lower()) + 1
            row += [0] * int(sign) if sign.isdigit() else [kind if sign.isupper() else -kind]
        rows.append(row)
    return np.array(rows, np.int8)


def pieces(planes: NDArray[Any], own: int, others: int, kinds: int) -> NDArray[np.int8]:
    """A position from planes (…, planes): own and others' first planes of ``kinds`` pieces each."""
    numbers = np.arange(1, kinds + 1)
    mine, theirs = (planes[..., first : first + kinds] @ numbers for first in (own, others))
    return np.asarray(mine - theirs).astype(np.int8)


def shogi_label(usi: str, black: bool) -> int:
    """The label of a move such as 7g7f, 8h2b+ or P*5e."""

    def square(text: str) -> int:
        number = (int(text[0]) - 1) * 9 + ord(text[1]) - ord("a")
        return number if black else 80 - number

    end = square(usi[2:4])
    if usi[1] == "*":
        return (DROPPED + SHOGI.index(usi[0])) * 81 + end
    start = square(usi[:2])
    across, down = start // 9 - end // 9, start % 9 - end % 9
    jump = {(-1, 2): 8, (1, 2): 9}
    direction = jump[across, down] if (across, down) in jump else DIRECTIONS[int(np.sign(across)), int(np.sign(down))]
    return (direction + 10 * usi.endswith("+")) * 81 + end


def shogi_board(sfen: str) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The position of a SFEN, file 9 and rank 1 first, 1 … 14 for Black's pieces; and the hands, (2, 7)."""
    board, _, held = sfen.split()[:3]
    rows = []
    for text in board.split("/"):
        row: list[int] = []
        promoted = 0
        for sign in text:
            kind = SHOGI.find(sign.upper()) + 1 + promoted
            if sign != "+":
                row += [0] * int(sign) if sign.isdigit() else [kind if sign.isupper() else -kind]
            promoted = 8 * (sign == "+")
        rows.append(row)
    hands, count = np.zeros((2, 7), np.int8), ""
    for sign in held.replace("-", ""):
        if not sign.isdigit():
            hands[int(sign.islower()), SHOGI.index(sign.upper())] = int(count or 1)
        count = count + sign if sign.isdigit() else ""
    return np.array(rows, np.int8), hands


ANIMALS = "ceglh"
"""Chick, elephant, giraffe, lion and hen, as pgx numbers them from 0."""
STEPS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
"""Of animal shogi: pgx's directions."""


def animal_label(uci: str, first: bool) -> int:
    """The label of a move such as b2b3, b3b4+ or C@b2."""

    def square(text: str) -> int:
        number = (2 - (ord(text[0]) - ord("a"))) * 4 + 4 - int(text[1])
        return number if first else 11 - number

    end = square(uci[2:4])
    if uci[1] == "@":
        return (len(STEPS) + ANIMALS.index(uci[0].lower())) * 12 + end
    start = square(uci[:2])
    return STEPS.index((end // 4 - start // 4, end % 4 - start % 4)) * 12 + start


def animal_board(fen: str) -> NDArray[np.int8]:
    """The position of a FEN, as ``chess_board``; a last row has three of each side's pieces in hand, (5, 6)."""
    board, held = fen.split()[0].rstrip("]").split("[")
    rows = [list[int]() for _ in range(4)]
    for row, text in zip(rows, board.replace("+c", "h").replace("+C", "H").split("/"), strict=True):
        for sign in text:
            kind = ANIMALS.find(sign.lower()) + 1
            row += [0] * int(sign) if sign.isdigit() else [kind if sign.isupper() else -kind]
    hands = [held.count(sign) for sign in "CEGceg"]
    return np.array([*np.pad(np.array(rows), ((0, 0), (0, 3))), hands], np.int8)

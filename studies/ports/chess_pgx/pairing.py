"""Chess, 5x5 chess and animal shogi of pgx, held to python-chess and to Fairy-Stockfish."""

from typing import Any

import numpy as np
import pyffish
from board_games import PgxGame
from notation import animal_board, animal_label, chess_board, chess_label
from rules import Fairy, PythonChess, read_animals, read_history
from starts import MADE, USUAL, MadeStart

from rlparity import Tolerance, World
from rlparity.adapters.pairing import Pairing

MADE_START = "chess-made"


def world(name: str, original: Any, port: Any, actions: int, position: tuple[int, ...], numbers: int) -> World:
    """A game of both."""
    seen = {"position": position, "repeated": (), "earlier": (7, *position), "earlier_repeated": (7,)}
    shape: Any = {"mover": (), **{f"seen.{part}": form for part, form in seen.items()}, "seen.numbers": (numbers,)}
    rounding = {"observation.seen.numbers": Tolerance(ulps=1, reason="XLA divides by 100 by multiplying")}
    draws = None if name == MADE_START else False  # the seed chooses the start
    games, moves = {"rules": original, "pgx": port}, tuple(map(str, range(actions)))
    return Pairing(name, games, moves, shape, players=2, draws=draws, tolerances=rounding).world()


def gardner(move: str, white: bool) -> int:
    """The label of a move on 5x5 squares."""
    from pgx._src.gardner_chess_utils import PLANE_MAP

    return chess_label(move, white, 5, np.asarray(PLANE_MAP))


CHESS_PLANES = read_history(6, 14, 6)
CHESS = world("chess", lambda: PythonChess((USUAL,)), lambda: PgxGame("chess", CHESS_PLANES), 4672, (8, 8), 6)
MADE_CHESS = world(MADE_START, lambda: PythonChess(MADE), lambda: MadeStart("chess", CHESS_PLANES), 4672, (8, 8), 6)
GARDNER_CHESS = world(
    "gardner_chess",
    lambda: Fairy(
        "gardner", 1225, gardner, lambda fen: (chess_board(fen), [np.float32(fen.split()[-2]) / np.float32(100)])
    ),
    lambda: PgxGame("gardner_chess", read_history(6, 14, 2)),
    1225,
    (5, 5),
    2,
)
ANIMALS = "[animals:dobutsu]\nextinctionPseudoRoyal = true\nnFoldRule = 3\n"
"""Animal shogi without moves into check; as it is played, one may lose the lion."""


def animal_shogi(name: str, variant: str) -> World:
    """Animal shogi by a variant of Fairy-Stockfish."""

    def rules() -> Fairy:
        pyffish.load_variant_config(ANIMALS)
        return Fairy(variant, 132, animal_label, lambda fen: (animal_board(fen), []))

    return world(name, rules, lambda: PgxGame("animal_shogi", read_animals), 132, (5, 6), 1)


ANIMAL_SHOGI = animal_shogi("animal_shogi", "animals")
ANIMAL_SHOGI_AS_PLAYED = animal_shogi("animal_shogi-as-played", "dobutsu")

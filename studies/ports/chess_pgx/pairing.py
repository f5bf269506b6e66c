"""Chess, 5x5 chess and animal shogi of pgx, held to python-chess and to Fairy-Stockfish."""

from typing import Any

import numpy as np
import pyffish
from board_games import PgxGame
from notation import animal_board, animal_label, chess_board, chess_label
from rules import Fairy, PythonChess, RuledGame, read_animals, read_history
from starts import MADE, USUAL, MadeStart

from rlparity import Tolerance, World
from rlparity.adapters.pairing import Pairing

MADE_START = "chess-made"


def world(name: str, rules: Any, port: Any, actions: int) -> World:
    """A game of both."""
    rounding = {"observation.seen.numbers": Tolerance(ulps=1, reason="XLA divides by 100 by multiplying")}
    draws = None if name == MADE_START else False  # the seed chooses the start
    games, moves = {"rules": lambda: RuledGame(rules()), "pgx": port}, tuple(map(str, range(actions)))
    return Pairing(name, games, moves, players=2, draws=draws, tolerances=rounding).world()


def gardner(move: str, white: bool) -> int:
    """The label of a move on 5x5 squares."""
    from pgx._src.gardner_chess_utils import PLANE_MAP

    return chess_label(move, white, 5, np.asarray(PLANE_MAP))


CHESS_PLANES, MOVES = read_history(6, 14, 6), 4672
CHESS = world("chess", lambda: PythonChess((USUAL,)), lambda: PgxGame("chess", CHESS_PLANES), MOVES)
MADE_CHESS = world(MADE_START, lambda: PythonChess(MADE), lambda: MadeStart("chess", CHESS_PLANES), MOVES)


def show_gardner(fen: str) -> Any:
    """Position, and share of the fifty moves."""
    return chess_board(fen), [np.float32(fen.split()[-2]) / np.float32(100)]


GARDNER_PLANES = read_history(6, 14, 2)
GARDNER_CHESS = world(
    "gardner_chess",
    lambda: Fairy("gardner", 1225, gardner, show_gardner),
    lambda: PgxGame("gardner_chess", GARDNER_PLANES),
    1225,
)
ANIMALS = "[animals:dobutsu]\nextinctionPseudoRoyal = true\nnFoldRule = 3\n"
"""Animal shogi without moves into check; as it is played, one may lose the lion."""


def animal_shogi(name: str, variant: str) -> World:
    """Animal shogi by a variant of Fairy-Stockfish."""

    def rules() -> Fairy:
        pyffish.load_variant_config(ANIMALS)
        return Fairy(variant, 132, animal_label, lambda fen: (animal_board(fen), []))

    return world(name, rules, lambda: PgxGame("animal_shogi", read_animals), 132)


ANIMAL_SHOGI = animal_shogi("animal_shogi", "animals")
ANIMAL_SHOGI_AS_PLAYED = animal_shogi("animal_shogi-as-played", "dobutsu")

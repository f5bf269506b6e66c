"""Chess, 5x5 chess and animal shogi of pgx, held to python-chess and to Fairy-Stockfish.

The games end as pgx says that its own do: also by the third repetition, after fifty moves, and after 512 or 256 moves.
"""

from typing import Any

import chess
import numpy as np
import pyffish
from board_games import PgxGame, RuledGame, read_history
from notation import animal_board, animal_label, chess_board, chess_label, pieces
from starts import MADE, USUAL, MadeStart

from rlparity import Tolerance, World
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.single import SingleGame

class PythonChess(RuledGame):
    """python-chess; the seed chooses where a game begins."""

    most = 512

    def __init__(self, beginnings: tuple[str, ...]) -> None:
        from pgx._src.games.chess import TO_PLANE

        self._beginnings, self._planes, self.actions = beginnings, np.asarray(TO_PLANE), 64 * 73

    def start(self, seed: int) -> None:
        self._board = chess.Board(self._beginnings[seed % len(self._beginnings)])

    def legal(self) -> dict[int, Any]:
        white = self._board.turn
        return {chess_label(move.uci(), white, 8, self._planes): move for move in self._board.legal_moves}

    def play(self, move: Any) -> None:
        self._board.push(move)

    def result(self) -> float | None:
        board = self._board
        is_draw = board.halfmove_clock >= 100 or board.is_insufficient_material() or board.is_repetition(3)
        return float(board.is_checkmate()) if is_draw or not any(board.legal_moves) else None

    def shown(self) -> tuple[Any, Any]:
        board, white = self._board, chess.WHITE
        sides = [(has, color) for color in (white, not white) for has in ("queenside", "kingside")]
        rights = [getattr(board, f"has_{side}_castling_rights")(color) for side, color in sides]
        return chess_board(board.fen()), (*rights, np.float32(board.halfmove_clock) / np.float32(100))

    def key(self) -> Any:
        return self._board._transposition_key()


class Fairy(RuledGame):
    """A variant of Fairy-Stockfish."""

    most = 256

    def __init__(self, variant: str, actions: int, label: Any, show: Any) -> None:
        self._variant, self.actions, self._label, self._show = variant, actions, label, show

    def start(self, seed: int) -> None:
        self._start, self._moves = pyffish.start_fen(self._variant), list[str]()

    def _ask(self, question: str) -> Any:
        return getattr(pyffish, question)(self._variant, self._start, self._moves)

    def legal(self) -> dict[int, Any]:
        white = len(self._moves) % 2 == 0
        return {self._label(move, white): move for move in sorted(self._ask("legal_moves"))}

    def play(self, move: Any) -> None:
        self._moves.append(move)

    def result(self) -> float | None:
        for question in ("is_immediate_game_end", "is_optional_game_end"):
            is_over, value = self._ask(question)
            if is_over:
                return -float(np.sign(value))
        if all(self._ask("has_insufficient_material")):
            return 0.0
        return None if self._ask("legal_moves") else -float(np.sign(self._ask("game_result")))

    def shown(self) -> tuple[Any, Any]:
        return self._show(self._ask("get_fen"))

    def key(self) -> Any:
        return self._ask("get_fen").rsplit(" ", 2)[0]


def read_animals(views: Any, state: Any) -> dict[str, Any]:
    """As ``read_history``; a last row has the hands."""
    shown, first = read_history(5, 24, 1)(views, state)["seen"], views[0]
    hands = [[first[0, 0, at + 10 : at + 22].reshape(6, 2).sum(axis=1)] for at in range(0, 192, 24)]
    boards = np.pad([shown["position"], *shown["earlier"]], ((0, 0), (0, 0), (0, 3)))
    positions = np.concatenate([boards, hands], axis=1).astype(np.int8)
    return {"seen": shown | {"position": positions[0], "earlier": positions[1:]}}


def world(name: str, original: Any, port: Any, actions: int, position: tuple[int, ...], numbers: int) -> World:
    """A game of both."""
    seen = {"position": position, "repeated": (), "earlier": (7, *position), "earlier_repeated": (7,)}
    shape: Any = {"mover": (), **{f"seen.{part}": form for part, form in seen.items()}, "seen.numbers": (numbers,)}
    rounding = {"observation.seen.numbers": Tolerance(ulps=1, reason="XLA divides by 100 by multiplying")}
    games, moves = {"rules": original, "pgx": port}, tuple(map(str, range(actions)))
    return Pairing(name, games, moves, shape, players=2, draws=None, tolerances=rounding).world()


def gardner(move: str, white: bool) -> int:
    from pgx._src.gardner_chess_utils import PLANE_MAP

    return chess_label(move, white, 5, np.asarray(PLANE_MAP))


CHESS_PLANES = read_history(6, 14, 6)
CHESS = world("chess", lambda: PythonChess((USUAL,)), lambda: PgxGame("chess", CHESS_PLANES), 4672, (8, 8), 6)
MADE_CHESS = world("chess-made", lambda: PythonChess(MADE), lambda: MadeStart("chess", CHESS_PLANES), 4672, (8, 8), 6)
GARDNER_CHESS = world(
    "gardner_chess",
    lambda: Fairy("gardner", 1225, gardner, lambda fen: (chess_board(fen), [np.float32(fen.split()[-2]) / np.float32(100)])),
    lambda: PgxGame("gardner_chess", read_history(6, 14, 2)),
    1225, (5, 5), 2,
)
ANIMALS = "[animals:dobutsu]\nextinctionPseudoRoyal = true\nnFoldRule = 3\n"
"""Animal shogi without moves into check; as it is played, one may lose the lion."""


def animal_shogi(name: str, variant: str) -> World:
    def rules() -> Fairy:
        pyffish.load_variant_config(ANIMALS)
        return Fairy(variant, 132, animal_label, lambda fen: (animal_board(fen), []))

    return world(name, rules, lambda: PgxGame("animal_shogi", read_animals), 132, (5, 6), 1)


ANIMAL_SHOGI = animal_shogi("animal_shogi", "animals")
ANIMAL_SHOGI_AS_PLAYED = animal_shogi("animal_shogi-as-played", "dobutsu")

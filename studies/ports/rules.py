"""Games of rules that others wrote, made into those of pgx: python-chess, and variants of Fairy-Stockfish.

They end as pgx says that its own do: also by the third repetition, after fifty moves, and after 512 or 256 moves.
"""

from collections.abc import Callable
from typing import Any

import chess
import numpy as np
import pyffish
from board_games import HISTORY, mask_of, refused
from notation import chess_board, chess_label, pieces
from numpy.typing import ArrayLike

from rlparity.adapters.single import Outcome, SingleGame


class RuledGame(SingleGame):
    """A game for two by rules that know moves and positions, made into one of pgx.

    The rules have so many ``actions``, and are a draw after ``most`` moves. They ``start(seed)`` a game, give the
    ``legal()`` moves by pgx's numbers, and ``play(move)``. ``result()`` is what who moved last has won at the end, None
    while the game goes on. ``shown()`` is the position from the side of who began, and numbers that are seen too;
    ``key()`` what makes two positions the same.
    """

    def __init__(self, rules: Any) -> None:
        self._rules = rules

    def begin(self, seed: int) -> Any:
        self._positions, self._keys = list[Any](), list[Any]()
        self._rules.start(seed)
        self._look()
        return self._seen(is_over=False)

    def _look(self) -> None:
        position, self._numbers = self._rules.shown()
        self._positions, self._keys = [position, *self._positions][:HISTORY], [self._rules.key(), *self._keys]
        self._legal = self._rules.legal()

    def _seen(self, is_over: bool) -> dict[str, Any]:
        keys, played = self._keys, len(self._keys) - 1
        positions = np.zeros((HISTORY, *self._positions[0].shape), np.int8)
        positions[: len(self._positions)] = self._positions
        repeated = [at < len(keys) and keys[at] in keys[at + 1 :] for at in range(HISTORY)]
        numbers = np.array([np.float32(played) / np.float32(self._rules.most), *self._numbers], np.float32)
        return {"mover": np.int64(-1 if is_over else played % 2), **views_of(positions, np.array(repeated), numbers)}

    def act(self, action: int) -> Outcome:
        if action not in self._legal:
            return refused(self._seen(is_over=False), 2)
        self._rules.play(self._legal[action])
        self._look()
        result, moved = self._rules.result(), len(self._keys) - 1
        is_over = result is not None or moved >= self._rules.most
        self._legal = {} if is_over else self._legal
        won = int(result or 0) * (1 if moved % 2 else -1)
        rewards = np.array([won, -won], np.float32)
        return Outcome(self._seen(is_over), rewards, is_over, False)

    def mask(self) -> ArrayLike:
        return mask_of(self._legal, self._rules.actions)


def read_history(kinds: int, planes: int, numbers: int) -> Callable[[Any, Any], Any]:
    """Reads what ``RuledGame`` shows from the planes of pgx: so many for each position, then those of the numbers."""

    def read(views: Any, _: Any) -> dict[str, Any]:
        first, starts = views[0], range(0, HISTORY * planes, planes)
        positions = np.stack([pieces(first, start, start + kinds, kinds) for start in starts])
        repeated = first[0, 0, planes - 2 : HISTORY * planes : planes] == 0
        return views_of(positions, repeated, first[0, 0, HISTORY * planes + 1 :][:numbers])

    return read


def views_of(positions: Any, repeated: Any, numbers: Any) -> dict[str, Any]:
    """The present position, those before it, which of them are repeated, and other numbers that are seen."""
    now = {"position": positions[0], "repeated": repeated[0]}
    return {"seen": now | {"earlier": positions[1:], "earlier_repeated": repeated[1:], "numbers": numbers}}


class PythonChess:
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


class Fairy:
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

"""python-chess, and chess of pgx. A state is where a game began, as FEN, and the moves since."""

from collections.abc import Callable
from functools import cache
from typing import Any

import chess
import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlparity import State, Tolerance, World
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.single import Outcome, SingleGame

START = chess.STARTING_FEN
LABELS = 64 * 73
MOST_MOVES = 512
BEGINNINGS = (
    START,
    "r3k2r/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/R3K2R w KQkq - 0 1",  # castling
    "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",  # pawns alone: en passant and promotion
    "8/P1P1P1k1/8/8/8/8/p1p1p1K1/8 w - - 0 1",  # promotion
    "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
    "4k3/8/8/8/8/8/4p3/4KB2 b - - 90 60",  # fifty moves
    "4kb2/8/8/8/8/8/8/4KB2 w - - 0 1",
    "4k1n1/8/8/8/8/8/8/1N2KN2 w - - 0 1",
)
MOST_LEGAL_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"


@cache
def squares() -> NDArray[np.int32]:
    """What pgx calls its labels: (64, 73) -> square that the piece goes to, -1 where none is."""
    from pgx._src.games.chess import FROM_PLANE

    return np.asarray(FROM_PLANE)


def label_of(move: chess.Move, color: bool) -> int:
    """The label of a move."""
    start, end = (
        chess.square_file(square) * 8 + (chess.square_rank(square) if color else 7 - chess.square_rank(square))
        for square in (move.from_square, move.to_square)
    )
    if move.promotion in (chess.ROOK, chess.BISHOP, chess.KNIGHT):
        kind = (chess.ROOK, chess.BISHOP, chess.KNIGHT).index(move.promotion)
        return start * 73 + 3 * kind + {1: 0, 9: 1, -7: 2}[end - start]
    return start * 73 + 9 + int(np.flatnonzero(squares()[start, 9:] == end)[0])


class Original(SingleGame):
    """python-chess, whose game ends as pgx says that its own does: also by a draw that is claimed, and by length."""

    has_states = True

    def begin(self, seed: int) -> ArrayLike:
        return self._place(START, ())

    def _place(self, start: str, moves: Any) -> ArrayLike:
        self._start, self._board, self._labels = start, chess.Board(start), list(moves)
        for label in moves:
            self._board.push(self._moves()[label])
        self._look()
        return self._seen()

    def _moves(self) -> dict[int, chess.Move]:
        return {label_of(move, self._board.turn): move for move in self._board.legal_moves}

    def _look(self) -> None:
        self._legal = self._moves()

    def _ended(self) -> bool:
        board = self._board
        return (
            not self._legal
            or board.halfmove_clock >= 100
            or board.is_insufficient_material()
            or board.is_repetition(3)
            or len(self._labels) >= MOST_MOVES
        )

    def act(self, action: int) -> Outcome:
        if action not in self._legal:  # pgx: the mover loses
            return Outcome(self._seen(), np.float32(-1), True, False)
        self._labels.append(action)
        self._board.push(self._legal[action])
        self._look()
        return Outcome(self._seen(), np.float32(self._board.is_checkmate()), self._ended(), False)

    def mask(self) -> ArrayLike:
        mask = np.zeros(LABELS, bool)
        mask[list(self._legal)] = True
        return mask if self._legal else ~mask

    def _seen(self) -> ArrayLike:
        """Planes (8, 8, 119) as pgx documents them: 8 positions, then colour, length, castling and progress."""
        now, planes = self._board.copy(), []
        me, count = now.turn, min(len(self._labels), 7) + 1
        for _ in range(count):
            pieces = [self._plane(now.pieces(kind, color)) for color in (me, not me) for kind in chess.PIECE_TYPES]
            repeated = now.is_repetition(2)
            planes += [*pieces, np.full((8, 8), not repeated), np.full((8, 8), repeated)]
            if now.move_stack:
                now.pop()
        empty = [np.zeros((8, 8))] * 12 + [np.ones((8, 8)), np.zeros((8, 8))]
        planes += empty * (8 - count)
        board = self._board
        rights = [
            has(color)
            for color in (me, not me)
            for has in (board.has_queenside_castling_rights, board.has_kingside_castling_rights)
        ]
        numbers = [not me, np.float32(len(self._labels)) / np.float32(MOST_MOVES), *rights]
        numbers.append(np.float32(board.halfmove_clock) / np.float32(100))
        planes += [np.full((8, 8), number, np.float32) for number in numbers]
        return np.stack(planes, axis=-1).astype(np.float32)

    def _plane(self, pieces: chess.SquareSet) -> NDArray[np.bool_]:
        rows = np.array(pieces.tolist(), bool).reshape(8, 8)  # rank 1 first
        return rows[::-1] if self._board.turn else rows

    def pull(self) -> State:
        return {"start": self._start, "moves": self._labels.copy(), "fen": self._board.fen(en_passant="fen")}

    def push(self, state: State) -> ArrayLike:
        return self._place(state["start"], state["moves"])


class Port(SingleGame):
    """Chess of pgx."""

    has_states = True

    def __init__(self, functions: tuple[Callable[..., Any], ...]) -> None:
        self._init, self._step = functions

    def begin(self, seed: int) -> ArrayLike:
        import jax

        self._state = self._init(jax.random.key(seed))
        self._start = START
        self._labels: list[int] = []
        return self._seen()

    def _seen(self) -> ArrayLike:
        return np.asarray(self._state.observation)

    def act(self, action: int) -> Outcome:
        mover = int(self._state.current_player)
        self._state = self._step(self._state, action)
        self._labels.append(action)
        state = self._state
        return Outcome(self._seen(), np.asarray(state.rewards)[mover], bool(state.terminated), bool(state.truncated))

    def mask(self) -> ArrayLike:
        mask = np.asarray(self._state._x.legal_action_mask)  # after an end as well, when pgx shows all moves as valid
        return mask if mask.any() else ~mask

    def pull(self) -> State:
        from pgx.experimental.chess import to_fen

        x = self._state._x
        fen = to_fen(self._state).split()
        clocks = str(int(x.halfmove_count)), str(int(x.fullmove_count))
        return {"start": self._start, "moves": self._labels.copy(), "fen": " ".join([*fen[:4], *clocks])}

    def push(self, state: State) -> ArrayLike:
        from pgx.experimental.chess import from_fen

        self.begin(state["seed"])
        if state["start"] != START:
            state_of_pgx = from_fen(state["start"])
            x = state_of_pgx._x
            # from_fen leaves the usual first position in the history, as if it had been played
            x = x._replace(board_history=x.board_history.at[1:].set(0), hash_history=x.hash_history.at[1:].set(0))
            self._state = _observed()(state_of_pgx.replace(_x=x))
        self._start = state["start"]
        for label in state["moves"]:
            self.act(label)
        return self._seen()


def port() -> Port:
    """A game of pgx; what it compiles is compiled once."""
    return Port(_functions())


@cache
def _functions() -> tuple[Callable[..., Any], ...]:
    import jax
    import pgx

    env = pgx.make("chess")
    return jax.jit(env.init), jax.jit(env.step)


@cache
def _observed() -> Callable[[Any], Any]:
    import jax
    import pgx

    env = pgx.make("chess")
    return jax.jit(lambda state: state.replace(observation=env.observe(state)))


def beginning_in(*fens: str) -> Callable[[np.random.Generator], State]:
    """One of some positions, as a start."""

    def beginning(rng: np.random.Generator) -> State:
        fen = fens[rng.integers(len(fens))]
        return {"seed": 0, "start": fen, "moves": [], "fen": fen}

    return beginning


def world(name: str, *fens: str, seen: bool = True) -> World:
    """Chess, begun in these positions too; ``seen``: whether observations are compared."""
    rounding = Tolerance(ulps=1, reason="XLA divides by 100 by multiplying")
    ignored = Tolerance(ignored=True, reason="see the world that compares them")
    return Pairing(
        name=name,
        games={"python-chess": Original, "pgx": port},
        actions=tuple(f"{index // 73}-{index % 73}" for index in range(LABELS)),
        observation_shape=(8, 8, 119),
        state_fields=("start", "moves", "fen"),
        tolerances={"observation": rounding if seen else ignored},
        draws=False,
        starts={"made": beginning_in(*fens)},
    ).world()


CHESS = world("chess", *BEGINNINGS)
CHESS_RULES = world("chess-rules", *BEGINNINGS, seen=False)
MANY_MOVES = world("chess-many-moves", MOST_LEGAL_MOVES)

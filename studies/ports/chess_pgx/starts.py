"""Made positions in which games of chess begin."""

from typing import Any

from board_games import PgxGame, in_turn, replayed

USUAL = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MADE = (
    "r3k2r/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/R3K2R w KQkq - 0 1",  # castling
    "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",  # pawns alone: en passant and promotion
    "8/P1P1P1k1/8/8/8/8/p1p1p1K1/8 w - - 0 1",  # promotion
    "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
    "4kb2/4P3/8/8/8/8/8/4K3 w - - 90 60",  # fifty moves
    "4kb2/8/8/8/8/8/8/4KB2 w - - 0 1",
    "4k1n1/8/8/8/8/8/8/1N2KN2 w - - 0 1",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",  # the most legal moves
)


class MadeStart(PgxGame):  # type: ignore[misc] # of a module that mypy does not find
    """Chess of pgx, of which the seed chooses the beginning."""

    def begin(self, seed: int) -> Any:
        from pgx.experimental.chess import from_fen

        super().begin(seed)
        state = from_fen(MADE[seed % len(MADE)])
        # from_fen leaves the usual first position in the history, as if it had been played
        x = state._x
        x = x._replace(board_history=x.board_history.at[1:].set(0), hash_history=x.hash_history.at[1:].set(0))
        self._state, self._players = state.replace(_x=x), in_turn(state)
        return self._shown()


def returns_to_the_start(state: Any, action: Any) -> bool:
    """Whether an action brings back the first position."""
    from pairing import CHESS

    rules = replayed(CHESS, "rules", state, action)
    return bool(rules._keys[0] == rules._keys[-1])


def returns_to_another(state: Any, action: Any) -> bool:
    """The reverse of ``returns_to_the_start``."""
    return not returns_to_the_start(state, action)

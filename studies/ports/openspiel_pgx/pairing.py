"""Board games of OpenSpiel and of pgx. Both show the board: 1 for the first player's stones, -1 for the second's.

Neither can be put into a position, so that a state is the moves played.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlparity import World
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.single import Outcome, SingleGame

STONES = {"x": 1, "X": 1, "o": -1, "O": -1, ".": 0, "-": 0, "+": 0}


def refused(board: NDArray[np.int8]) -> Outcome:
    """The end of a game by an invalid action, which OpenSpiel raises an error for, and pgx a loss of who moves."""
    return Outcome(board, np.zeros(2, np.float32), True, False)


class Original(SingleGame):
    """A game of OpenSpiel. Its board is read from what it prints."""

    def __init__(self, name: str, shape: tuple[int, int], actions: int) -> None:
        import pyspiel

        self._game, self._shape, self._actions = pyspiel.load_game(name), shape, actions
        self._is_go = name.startswith("go(")

    def begin(self, seed: int) -> ArrayLike:
        self._state = self._game.new_initial_state()
        return self._board()

    def _board(self) -> NDArray[np.int8]:
        height, width = self._shape
        rows = []
        for line in str(self._state).splitlines():
            text = "".join(line.split()[1:]) if self._is_go else line.replace(" ", "")
            if not self._is_go and len(text) == width + 2:
                text = text[1:-1]  # the numbers of rows beside Othello's board
            if len(text) == width and set(text) <= STONES.keys():
                rows.append([STONES[stone] for stone in text])
        board = np.array(rows[:height], np.int8)
        return board[::-1] if self._is_go else board

    def act(self, action: int) -> Outcome:
        if action not in self._state.legal_actions():
            return refused(self._board())
        self._state.apply_action(action)
        return Outcome(self._board(), np.array(self._state.rewards(), np.float32), self._state.is_terminal(), False)

    def mask(self) -> ArrayLike:
        if self._state.is_terminal():
            return np.ones(self._actions, bool)
        mask = np.zeros(self._actions, bool)
        mask[self._state.legal_actions()] = True
        return mask


class Port(SingleGame):
    """A game of pgx. The player who begins is drawn: it is the first one here, whichever it is."""

    def __init__(self, functions: tuple[Callable[..., Any], ...]) -> None:
        self._init, self._step = functions

    def begin(self, seed: int) -> ArrayLike:
        import jax

        self._state = self._init(jax.random.key(seed))
        self._first = int(self._state.current_player)
        return self._board()

    def _board(self) -> NDArray[np.int8]:
        planes = np.asarray(self._state.observation).astype(np.int8)
        sign = 1 if int(self._state.current_player) == self._first else -1
        return np.asarray(sign * (planes[..., 0] - planes[..., 1]))

    def act(self, action: int) -> Outcome:
        if not self.mask()[action]:
            return refused(self._board())
        self._state = state = self._step(self._state, action)
        rewards = np.asarray(state.rewards)[[self._first, 1 - self._first]]
        return Outcome(self._board(), rewards, bool(state.terminated), bool(state.truncated))

    def mask(self) -> NDArray[np.bool_]:
        return np.asarray(self._state.legal_action_mask)


def port(name: str) -> Callable[[], Port]:
    """A maker of pgx's games, which are compiled when the first one is made."""
    made: list[tuple[Callable[..., Any], ...]] = []

    def make() -> Port:
        if not made:
            import jax
            import pgx

            env = pgx.make(name)
            made.append((jax.jit(env.init), jax.jit(env.step)))
        return Port(made[0])

    return make


def world(name: str, pgx_name: str, shape: tuple[int, int], actions: int) -> World:
    """A board game of both."""
    return Pairing(
        name=pgx_name,
        games={"openspiel": lambda: Original(name, shape, actions), "pgx": port(pgx_name)},
        actions=tuple(map(str, range(actions))),
        observation_shape=shape,
        players=2,
        draws=False,
    ).world()


TIC_TAC_TOE = world("tic_tac_toe", "tic_tac_toe", (3, 3), 9)
CONNECT_FOUR = world("connect_four", "connect_four", (6, 7), 7)
OTHELLO = world("othello", "othello", (8, 8), 65)
GO = world("go(board_size=9)", "go_9x9", (9, 9), 82)

"""Games of pgx and of OpenSpiel as engines of a pairing.

A state is a seed and the actions since. The players are numbered from the one who moves first. pgx draws from the key of
the seed, at turn n with n folded in; where OpenSpiel has a chance node, it gets what pgx drew.
"""

import tempfile
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
from notation import pieces
from numpy.typing import ArrayLike, NDArray

from rlparity.adapters.single import Outcome, SingleGame

BRIDGE = "bridge_bidding"
HISTORY = 8
"""Positions, from the present one back, that observations may show."""


@cache
def functions(name: str) -> tuple[Callable[..., Any], ...]:
    """``init`` and ``step`` of a game of pgx, and what each of some players sees."""
    import pgx
    import pgx.bridge_bidding

    env: Any = pgx.bridge_bidding.BridgeBidding(_deals()) if name == BRIDGE else pgx.make(name)  # type: ignore[arg-type]
    return tuple(map(jax.jit, (env.init, env.step, jax.vmap(env._observe, (None, 0)))))


def _deals() -> str:
    """A file with the hundred deals that pgx's source has; its others are to be downloaded."""
    from pgx.bridge_bidding import _load_sample_hash

    path = Path(tempfile.mkdtemp()) / "deals.npy"
    np.save(path, np.stack([np.asarray(part) for part in _load_sample_hash()]))
    return str(path)


def key_of(seed: int, turn: int) -> Any:
    """What pgx draws from in a turn; 0 is the start."""
    key = jax.random.key(seed)
    return jax.random.fold_in(key, turn) if turn else key


def in_turn(state: Any) -> NDArray[np.int64]:
    """The players of a game for two, the one who begins first."""
    first = int(state.current_player)
    return np.array([first, 1 - first])


def refused(shown: Any, players: int) -> Outcome:
    """The end of a game by an invalid action: pgx punishes it, others raise an error."""
    return Outcome(shown, np.zeros(players, np.float32) if players > 1 else 0.0, True, False)


class PgxGame(SingleGame):
    """A game of pgx.

    read: ``read(views, state)``, what is compared of the views (players, …) of all players. players: ``players(state)``,
    their numbers in pgx.
    """

    def __init__(self, name: str, read: Callable[[Any, Any], Any], players: Callable[[Any], Any] = in_turn) -> None:
        self._name, self._read, self._players_of = name, read, players

    def begin(self, seed: int) -> Any:
        self._init, self._step, self._observe = functions(self._name)
        self._seed, self._taken = seed, 0
        self._state = self._init(key_of(seed, 0))
        self._players = self._players_of(self._state)
        return self._shown()

    def _shown(self) -> dict[str, Any]:
        state, players = self._state, np.ravel(self._players)
        mover = -1 if state.terminated else np.flatnonzero(players == int(state.current_player))[0]
        shown = self._read(np.asarray(self._observe(state, players)), state)
        return {"mover": np.int64(mover), **(shown if isinstance(shown, dict) else {"seen": shown})}

    def act(self, action: int) -> Outcome:
        self._taken += 1
        if not self.mask()[action]:
            return refused(self._shown(), np.size(self._players))
        self._state = state = self._step(self._state, action, key_of(self._seed, self._taken))
        rewards = np.asarray(state.rewards)[self._players]
        return Outcome(self._shown(), rewards, bool(state.terminated), bool(state.truncated))

    def mask(self) -> NDArray[np.bool_]:
        mask = np.asarray(self._state.legal_action_mask)
        return mask_of({}, len(mask)) if self._state.terminated else mask


class RuledGame(SingleGame):
    """A game for two by rules that know moves and positions, made into one of pgx.

    ``start``, ``legal``, ``play``, ``result``, ``shown`` and ``key`` are to be written; ``most`` moves end it in a draw.
    """

    actions: int
    most: int

    @abstractmethod
    def start(self, seed: int) -> None:
        """Set up a game."""

    @abstractmethod
    def legal(self) -> dict[int, Any]:
        """The legal moves by pgx's numbers."""

    @abstractmethod
    def play(self, move: Any) -> None:
        """Play a legal move."""

    @abstractmethod
    def result(self) -> float | None:
        """What who moved last has won at the end; None: the game goes on."""

    @abstractmethod
    def shown(self) -> tuple[Any, Any]:
        """The position from the side of who began, and numbers that are seen too."""

    @abstractmethod
    def key(self) -> Any:
        """What makes two positions the same."""

    def begin(self, seed: int) -> Any:
        self._positions, self._keys = list[Any](), list[Any]()
        self.start(seed)
        self._look()
        return self._seen(is_over=False)

    def _look(self) -> None:
        position, self._numbers = self.shown()
        self._positions, self._keys = [position, *self._positions][:HISTORY], [self.key(), *self._keys]
        self._legal = self.legal()

    def _seen(self, is_over: bool) -> dict[str, Any]:
        keys, played = self._keys, len(self._keys) - 1
        positions = np.zeros((HISTORY, *self._positions[0].shape), np.int8)
        positions[: len(self._positions)] = self._positions
        repeated = [at < len(keys) and keys[at] in keys[at + 1 :] for at in range(HISTORY)]
        numbers = np.array([np.float32(played) / np.float32(self.most), *self._numbers], np.float32)
        return {"mover": np.int64(-1 if is_over else played % 2), **views_of(positions, np.array(repeated), numbers)}

    def act(self, action: int) -> Outcome:
        if action not in self._legal:
            return refused(self._seen(is_over=False), 2)
        self.play(self._legal[action])
        self._look()
        result, moved = self.result(), len(self._keys) - 1
        is_over = result is not None or moved >= self.most
        self._legal = {} if is_over else self._legal
        won = (1, -1) if moved % 2 else (-1, 1)
        rewards = np.float32(won if result == 1 else np.negative(won) if result == -1 else (0, 0))
        return Outcome(self._seen(is_over), rewards, is_over, False)

    def mask(self) -> ArrayLike:
        return mask_of(self._legal, self.actions)


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


def mask_of(legal: Mapping[int, Any], actions: int) -> NDArray[np.bool_]:
    """The mask of the legal actions; the first where there are none, as at an end."""
    mask = np.zeros(actions, bool)
    mask[list(legal) or [0]] = True
    return mask


class OpenSpielGame(SingleGame):
    """A game of OpenSpiel.

    show: ``show(states)``, what is compared; the present state first, then those before it. moves: ``moves(state)``, action of the pairing -> action of OpenSpiel, for the legal ones. chance: ``chance(state,
    seed, turn)``, the outcome of a chance node. name: of the game, or ``name(seed)``.
    """

    def __init__(
        self,
        name: str | Callable[[int], str],
        actions: int,
        show: Callable[[list[Any]], Any],
        moves: Callable[[Any], Mapping[int, int]] = lambda state: {each: each for each in state.legal_actions()},
        chance: Callable[[Any, int, int], int] | None = None,
    ) -> None:
        import pyspiel

        self._load, self._name, self._actions, self._show = pyspiel.load_game, name, actions, show
        self._moves_of, self._chance = moves, chance

    def begin(self, seed: int) -> Any:
        self._game = self._load(self._name if isinstance(self._name, str) else self._name(seed))
        self._seed, self._taken, self._states = seed, 0, [self._game.new_initial_state()]
        self._settle()
        self._first = max(self._states[0].current_player(), 0)
        return self._shown()

    def _shown(self) -> dict[str, Any]:
        mover, players = self._states[0].current_player(), self._game.num_players()
        turn = np.int64((mover - self._first) % players if mover >= 0 else -1)
        return {"mover": turn, "seen": self._show(self._states)}

    def _settle(self) -> None:
        state = self._states[0]
        while state.is_chance_node():
            assert self._chance is not None
            state.apply_action(self._chance(state, self._seed, self._taken))
        self._moves = {} if state.is_terminal() else self._moves_of(state)

    def act(self, action: int) -> Outcome:
        self._taken += 1
        if action not in self._moves:
            return refused(self._shown(), self._game.num_players())
        state = self._states[0].clone()
        before = np.array(state.returns())
        state.apply_action(self._moves[action])
        self._states = [state, *self._states[: HISTORY - 1]]
        self._settle()
        earned = np.roll(np.float32(state.returns() - before), -self._first)
        return Outcome(self._shown(), earned if earned.size > 1 else earned[0], state.is_terminal(), False)

    def mask(self) -> ArrayLike:
        return mask_of(self._moves, self._actions)

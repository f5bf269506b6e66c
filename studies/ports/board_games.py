"""Games of pgx and of OpenSpiel as engines of a pairing.

A state is a seed and the actions since. The players are numbered from the one who moves first. pgx draws from
``key_of(seed, turn)``; where OpenSpiel has a chance node, it gets what pgx drew.
"""

import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlparity.adapters import Outcome, SingleGame, key_of
from rlparity.world import World

BRIDGE = "bridge_bidding"
HISTORY = 8
"""Positions, from the present one back, that observations may show."""


@cache
def functions(name: str) -> tuple[Callable[..., Any], ...]:
    """``init`` and ``step`` of a game of pgx, and what each of some players sees."""
    import pgx
    import pgx.bridge_bidding

    env: Any = pgx.bridge_bidding.BridgeBidding(_deals()) if name == BRIDGE else pgx.make(name)
    return tuple(map(jax.jit, (env.init, env.step, jax.vmap(env._observe, (None, 0)))))


def _deals() -> str:
    """A file with the hundred deals that pgx's source has; its others are to be downloaded."""
    from pgx.bridge_bidding import _load_sample_hash

    path = Path(tempfile.mkdtemp()) / "deals.npy"
    np.save(path, np.stack([np.asarray(part) for part in _load_sample_hash()]))
    return str(path)


def in_turn(state: Any) -> NDArray[np.int64]:
    """The players of a game for two, the one who begins first."""
    first = int(state.current_player)
    return np.array([first, 1 - first])


def replayed(world: World, engine: str, state: Any, action: Any) -> Any:
    """The game of an engine after the seed and the actions of a state, and one action more."""
    games: Any = world.engines[engine](1)
    game = games._games[0]
    game.begin(state["seed"])
    for each in (*state["actions"], action):
        game.act(each)
    return game


def refused(shown: Any, players: int) -> Outcome:
    """The end of a game by an invalid action: pgx punishes it, others raise an error."""
    return Outcome(shown, np.zeros(players, np.float32) if players > 1 else 0.0, True, False)


class PgxGame(SingleGame):
    """A game of pgx.

    read: ``read(views, state)``, what is compared of the views (players, …) of all players.
    players: ``players(state)``, their numbers in pgx.
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


def mask_of(legal: Mapping[int, Any], actions: int) -> NDArray[np.bool_]:
    """The mask of the legal actions; the first where there are none, as at an end."""
    mask = np.zeros(actions, bool)
    mask[list(legal) or [0]] = True
    return mask


def own_numbers(state: Any) -> dict[int, int]:
    """The legal moves of OpenSpiel where pgx numbers them alike."""
    return {action: action for action in state.legal_actions()}


class OpenSpielGame(SingleGame):
    """A game of OpenSpiel.

    name: of the game, or ``name(seed)``. show: ``show(states)``, what is compared; the present state first, then those
        before it.
    moves: ``moves(state)``, action of the pairing -> action of OpenSpiel, for the legal ones.
    chance: ``chance(state, seed, turn)``, the outcome of a chance node.
    """

    def __init__(
        self,
        name: str | Callable[[int], str],
        actions: int,
        show: Callable[[list[Any]], Any],
        moves: Callable[[Any], Mapping[int, int]] = own_numbers,
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

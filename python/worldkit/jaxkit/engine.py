"""A world in JAX as the harness and the environments play it: ``JaxEngine`` plays what ``JaxGames`` says."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from parity import BatchEngine, BatchStep, Slots
from parity import State as StateDict
from worldkit.threefry import seed_pairs, seeds_of

State = Any
"""A world's own pytree of arrays."""

Fired = Array | None
"""How often each mark fired, all games together, int32 (marks,); None where nobody counts."""


class Shown(NamedTuple):
    """What can be seen of the games (n, …) between steps."""

    observation: Array
    mask: Array
    seeds: Array  # uint32 (n, 2), low word first
    facts: Array | None = None


class Stepped(NamedTuple):
    """What a step of the games (n, …) gave, as in ``parity.BatchStep``."""

    components: Array
    reward: Array
    terminated: Array
    truncated: Array | None = None
    facts: Array | None = None
    events: Array | None = None


class JaxGames(ABC):
    """Many games of a world side by side: states with leaves (n, …). All but the conversions is traced by JAX.

    Programs are compiled once for each object of a subclass, so a world keeps one and gives it to all its engines.
    """

    @abstractmethod
    def blank(self, games: int) -> State:
        """A state of the right shapes, whatever it holds."""

    @abstractmethod
    def reset(self, state: State, seeds: Array, wanted: Array) -> tuple[State, Fired]:
        """New games of ``seeds``, uint32 (n, 2), where ``wanted``, bool (n,), holds; the others as they are."""

    @abstractmethod
    def restart(self, state: State, wanted: Array) -> tuple[State, Fired]:
        """The games that follow by the world's auto-reset rule where ``wanted`` holds; the others as they are."""

    @abstractmethod
    def step(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        """One action, int32 (n,), in every game; nothing is restarted."""

    @abstractmethod
    def step_restarting(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        """As ``step``, and where a game ended the next one; what is told is that of the step."""

    @abstractmethod
    def show(self, state: State, wanted: Array) -> tuple[Shown, Fired]:
        """What can be seen of all games; marks of observing are those of the games ``wanted``."""

    def arrays(self, state: State) -> Mapping[str, Array] | None:
        """The complete states as ``parity.BatchEngine.state_arrays`` has them, where the world offers them."""
        return None

    @abstractmethod
    def to_dict(self, state: State) -> StateDict:
        """One game's complete state, numpy leaves, as JSON values."""

    @abstractmethod
    def from_dict(self, state: StateDict) -> State:
        """The state that a dict describes; raises StateRefused where it is against the rules."""


class JaxEngine(BatchEngine):
    """``games`` games of a world, jitted, with numpy arrays at the border. Marks count where the world counts them."""

    def __init__(self, games: int, world: JaxGames) -> None:
        self.games = games
        self._world = world
        self._arrays: Mapping[str, Array] | None = None
        self._shows_arrays = False
        self._begun: tuple[bytes, bool, tuple[State, Shown, Stepped, Fired]] | None = None
        seeds = np.zeros((games, 2), np.uint32)
        # nobody asked for these games: their marks do not count
        self._state, self._shown, fired = _reset(world, world.blank(games), seeds, np.ones(games, np.bool_))
        self._counts = None if fired is None else np.zeros(len(fired), np.int64)

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        pairs = np.zeros((self.games, 2), np.uint32)
        pairs[slots] = seed_pairs(seeds)
        return self._placed(_reset(self._world, self._state, pairs, self._chosen(slots)), slots)

    def restart(self, slots: Slots) -> NDArray[Any]:
        return self._placed(_restart(self._world, self._state, self._chosen(slots)), slots)

    def seeds(self) -> NDArray[np.uint64]:
        return seeds_of(np.asarray(self._shown.seeds))

    def mask(self) -> NDArray[np.bool_]:
        return np.asarray(self._shown.mask)

    def facts(self) -> NDArray[Any] | None:
        return None if self._shown.facts is None else np.asarray(self._shown.facts)

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        """JAX dispatches the step and returns."""
        begun = (_step_restarting if restarting else _step)(self._world, self._state, actions)
        self._arrays = _arrays(self._world, begun[0]) if self._shows_arrays else None
        self._begun = (actions.tobytes(), restarting, begun)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=False)

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=True)

    def get_state(self, slots: Slots) -> list[StateDict]:
        host = jax.device_get(self._state)
        return [self._world.to_dict(jax.tree.map(lambda leaf, slot=slot: leaf[slot], host)) for slot in slots]

    def set_state(self, states: Sequence[StateDict], slots: Slots) -> NDArray[Any]:
        given = [self._world.from_dict(state) for state in states]

        def placed(old: Array, *new: Array) -> NDArray[Any]:
            leaf = np.array(old)
            leaf[slots] = new
            return leaf

        state = jax.tree.map(placed, self._state, *given)
        return self._placed((state, *_show(self._world, state, self._chosen(slots))), slots)

    def state_arrays(self) -> Mapping[str, NDArray[Any]] | None:
        """Asked for once, they are made along with every step."""
        if self._arrays is None:
            self._arrays = _arrays(self._world, self._state)
        self._shows_arrays = self._arrays is not None
        return None if self._arrays is None else {name: np.asarray(values) for name, values in self._arrays.items()}

    def marks(self) -> NDArray[np.integer[Any]] | None:
        return self._counts

    def _placed(self, made: tuple[State, Shown, Fired], slots: Slots) -> NDArray[Any]:
        """Take new states of some games; returns their observations."""
        self._state, self._shown, fired = made
        self._begun = self._arrays = None
        self._count(fired)
        return np.asarray(self._shown.observation)[slots]

    def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        if self._begun is None or self._begun[:2] != (actions.tobytes(), restarting):
            self.begin_step(actions, restarting=restarting)
        assert self._begun is not None
        self._state, self._shown, stepped, fired = self._begun[2]
        self._begun = None
        self._count(fired)
        told = (None if values is None else np.asarray(values) for values in stepped)
        return BatchStep(np.asarray(self._shown.observation), *told)  # type: ignore[arg-type]

    def _count(self, fired: Fired) -> None:
        if fired is not None and self._counts is not None:
            self._counts = self._counts + np.asarray(fired)

    def _chosen(self, slots: Slots) -> NDArray[np.bool_]:
        chosen = np.zeros(self.games, np.bool_)
        chosen[slots] = True
        return chosen


_jit = partial(jax.jit, static_argnums=0)


@_jit
def _reset(world: JaxGames, state: State, seeds: Array, wanted: Array) -> tuple[State, Shown, Fired]:
    state, fired = world.reset(state, seeds, wanted)
    return state, *_seen(world, state, wanted, fired)


@_jit
def _restart(world: JaxGames, state: State, wanted: Array) -> tuple[State, Shown, Fired]:
    state, fired = world.restart(state, wanted)
    return state, *_seen(world, state, wanted, fired)


@_jit
def _step(world: JaxGames, state: State, actions: Array) -> tuple[State, Shown, Stepped, Fired]:
    state, stepped, fired = world.step(state, actions)
    shown, fired = _seen(world, state, jnp.ones(len(actions), bool), fired)
    return state, shown, stepped, fired


@_jit
def _step_restarting(world: JaxGames, state: State, actions: Array) -> tuple[State, Shown, Stepped, Fired]:
    state, stepped, fired = world.step_restarting(state, actions)
    shown, fired = _seen(world, state, jnp.ones(len(actions), bool), fired)
    return state, shown, stepped, fired


def _seen(world: JaxGames, state: State, wanted: Array, fired: Fired) -> tuple[Shown, Fired]:
    """What can be seen after something happened, and the marks of both."""
    shown, more = world.show(state, wanted)
    return shown, more if fired is None or more is None else fired + more


@_jit
def _show(world: JaxGames, state: State, wanted: Array) -> tuple[Shown, Fired]:
    return world.show(state, wanted)


@_jit
def _arrays(world: JaxGames, state: State) -> Mapping[str, Array] | None:
    return world.arrays(state)

"""A world in JAX as the harness and the environments play it: ``JaxEngine`` plays what ``JaxGames`` says."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from parity import BatchEngine, BatchStep, Slots
from parity import State as StateDict
from worldkit.jaxkit.trace_cache import load_or_trace
from worldkit.threefry import seed_pairs, seeds_of

State = Any
"""A world's own pytree of arrays."""

Fired = Array | None
"""How often each mark fired in each game, bool or int32 (n, marks); None where nobody counts."""

_FEWEST, _SHARED = 8, 256
"""Up to so many games are played as the next power of two, so that engines of many widths share their programs."""


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

    Attributes:
        packages: those whose sources say what the games compute. Where they are named, traced programs are kept from
            one run to the next (`trace_cache`); an object must then be told from others by its class alone.
    """

    packages: Sequence[str] = ()

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
    def show(self, state: State) -> tuple[Shown, Fired]:
        """What can be seen of all games, and the marks of observing."""

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
    """``games`` games of a world, jitted, with numpy arrays at the border. Marks count where the world counts them.

    Few games are filled up with copies of the last one, which do as it does and are neither shown nor counted.
    """

    def __init__(self, games: int, world: JaxGames) -> None:
        self.games = games
        self._world = world
        width = max(_FEWEST, 1 << (games - 1).bit_length()) if games <= _SHARED else games
        self._original = np.minimum(np.arange(width), games - 1)
        self._is_shown = np.arange(width) < games
        self._arrays: Mapping[str, Array] | None = None
        self._shows_arrays = False
        self._begun: tuple[bytes, bool, tuple[State, Shown, Stepped, Fired]] | None = None
        seeds, nobody = np.zeros((width, 2), np.uint32), np.zeros(width, np.bool_)
        # nobody asked for these games: their marks do not count
        self._state, self._shown, fired = self._run(_reset, world.blank(width), seeds, ~nobody, nobody)
        self._counts = None if fired is None else np.zeros(len(fired), np.int64)

    @property
    def states(self) -> State:
        """The games as they stand, leaves (m, …) with m at least ``games``: theirs come first."""
        return self._state

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        pairs = np.zeros((self.games, 2), np.uint32)
        pairs[slots] = seed_pairs(seeds)
        chosen = self._chosen(slots)
        made = self._run(_reset, self._state, pairs[self._original], chosen, chosen & self._is_shown)
        return self._placed(made, slots)

    def restart(self, slots: Slots) -> NDArray[Any]:
        chosen = self._chosen(slots)
        return self._placed(self._run(_restart, self._state, chosen, chosen & self._is_shown), slots)

    def seeds(self) -> NDArray[np.uint64]:
        return seeds_of(self._of_shown(self._shown.seeds))

    def mask(self) -> NDArray[np.bool_]:
        return self._of_shown(self._shown.mask)

    def facts(self) -> NDArray[Any] | None:
        return None if self._shown.facts is None else self._of_shown(self._shown.facts)

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        """JAX dispatches the step and returns."""
        function = _step_restarting if restarting else _step
        begun = self._run(function, self._state, actions[self._original], self._is_shown)
        self._arrays = self._run(_arrays, begun[0]) if self._shows_arrays else None
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
            return leaf[self._original]

        state = jax.tree.map(placed, self._state, *given)
        shown, fired = self._run(_show, state, self._chosen(slots) & self._is_shown)
        return self._placed((state, shown, fired), slots)

    def state_arrays(self) -> Mapping[str, NDArray[Any]] | None:
        """Asked for once, they are made along with every step."""
        if self._arrays is None:
            self._arrays = self._run(_arrays, self._state)
        self._shows_arrays = self._arrays is not None
        return None if self._arrays is None else {name: self._of_shown(values) for name, values in self._arrays.items()}

    def marks(self) -> NDArray[np.integer[Any]] | None:
        return self._counts

    def _run(self, function: Callable[..., Any], *args: Any) -> Any:
        if jax.config.jax_disable_jit:  # type: ignore[attr-defined]
            return function(self._world, *args)
        return _program(function, self._world, len(self._original))(*args)

    def _placed(self, made: tuple[State, Shown, Fired], slots: Slots) -> NDArray[Any]:
        """Take new states of some games; returns their observations."""
        self._state, self._shown, fired = jax.block_until_ready(made)
        self._begun = self._arrays = None
        self._count(fired)
        return np.asarray(self._shown.observation)[slots]

    def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        if self._begun is None or self._begun[:2] != (actions.tobytes(), restarting):
            self.begin_step(actions, restarting=restarting)
        assert self._begun is not None
        # what failed, such as for want of memory, is an error here; numpy's view of it would end the process
        self._state, self._shown, stepped, fired = jax.block_until_ready(self._begun[2])
        self._begun = None
        self._count(fired)
        told = (None if values is None else self._of_shown(values) for values in stepped)
        return BatchStep(self._of_shown(self._shown.observation), *told)  # type: ignore[arg-type]

    def _count(self, fired: Fired) -> None:
        if fired is not None and self._counts is not None:
            self._counts = self._counts + np.asarray(fired)

    def _chosen(self, slots: Slots) -> NDArray[np.bool_]:
        chosen = np.zeros(self.games, np.bool_)
        chosen[slots] = True
        return chosen[self._original]

    def _of_shown(self, values: Array) -> NDArray[Any]:
        return np.asarray(values)[: self.games]


def _reset(world: JaxGames, state: State, seeds: Array, wanted: Array, counted: Array) -> tuple[State, Shown, Fired]:
    state, fired = world.reset(state, seeds, wanted)
    return state, *_seen(world, state, counted, fired)


def _restart(world: JaxGames, state: State, wanted: Array, counted: Array) -> tuple[State, Shown, Fired]:
    state, fired = world.restart(state, wanted)
    return state, *_seen(world, state, counted, fired)


def _step(world: JaxGames, state: State, actions: Array, counted: Array) -> tuple[State, Shown, Stepped, Fired]:
    state, stepped, fired = world.step(state, actions)
    shown, fired = _seen(world, state, counted, fired)
    return state, shown, stepped, fired


def _step_restarting(
    world: JaxGames, state: State, actions: Array, counted: Array
) -> tuple[State, Shown, Stepped, Fired]:
    state, stepped, fired = world.step_restarting(state, actions)
    shown, fired = _seen(world, state, counted, fired)
    return state, shown, stepped, fired


def _show(world: JaxGames, state: State, counted: Array) -> tuple[Shown, Fired]:
    return _seen(world, state, counted, None)


def _arrays(world: JaxGames, state: State) -> Mapping[str, Array] | None:
    return world.arrays(state)


def _seen(world: JaxGames, state: State, counted: Array, fired: Fired) -> tuple[Shown, Fired]:
    """What can be seen after something happened, and how often each mark of both fired in the games ``counted``."""
    shown, more = world.show(state)
    total = [jnp.sum(each * counted[:, None], axis=0, dtype=jnp.int32) for each in (fired, more) if each is not None]
    return shown, sum(total[1:], start=total[0]) if total else None


@cache
def _program(function: Callable[..., Any], world: JaxGames, games: int) -> Callable[..., Any]:
    """One of the functions above for ``games`` games of a world, compiled when it is first asked for."""
    state = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), world.blank(games))
    seeds, actions = jax.ShapeDtypeStruct((games, 2), np.uint32), jax.ShapeDtypeStruct((games,), np.int32)
    chosen = jax.ShapeDtypeStruct((games,), np.bool_)
    others = {
        _reset: (seeds, chosen, chosen),
        _restart: (chosen, chosen),
        _step: (actions, chosen),
        _step_restarting: (actions, chosen),
        _show: (chosen,),
        _arrays: (),
    }
    kind = type(world)
    about = f"{function.__name__} {kind.__module__}.{kind.__qualname__}"
    program = load_or_trace(
        jax.jit(partial(function, world)), state, *others[function], about=[about], packages=world.packages
    )
    return program.compile()

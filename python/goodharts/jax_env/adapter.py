"""The JAX engine as everybody plays it: a games object of the kit for each mode, with marks and without."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from goodharts.jax_env import grid, state_dict
from goodharts.jax_env.env import Game, Outcome
from goodharts.jax_env.marked import MarkedGame
from goodharts.jax_env.state import State, blank
from goodharts.jax_env.tables import Variant
from goodharts.rules import ACTIONS, MODES, Mode
from parity import BatchEngine, BatchStep, EngineOptions, Slots
from worldkit.jaxkit.batching import choose
from worldkit.jaxkit.engine import Fired, JaxEngine, JaxGames, Shown, Stepped
from worldkit.jaxkit.threefry import Seed


class _Games(JaxGames):
    """Games of a mode in training that count no marks."""

    packages = ("goodharts",)

    def __init__(self, mode: Mode) -> None:
        self.game = Game(Variant(mode))

    def blank(self, games: int) -> State:
        return blank(games)

    def reset(self, state: State, seeds: Array, wanted: Array) -> tuple[State, Fired]:
        return choose(wanted, jax.vmap(self.game.reset)(_keys(seeds)), state), None

    def restart(self, state: State, wanted: Array) -> tuple[State, Fired]:
        return jax.vmap(self.game.restart)(state, wanted), None

    def step(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        state, outcome = jax.vmap(self.game.step)(state, actions)
        return state, _stepped(state, outcome), None

    def step_restarting(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        final, outcome = jax.vmap(self.game.step)(state, actions)
        state = jax.vmap(self.game.restart)(final, outcome.terminated | outcome.truncated)
        return state, _stepped(final, outcome), None

    def show(self, state: State) -> tuple[Shown, Fired]:
        return _shown(state, jax.vmap(self.game.observe)(state)), None

    def arrays(self, state: State) -> Mapping[str, Array]:
        """The states as all engines of this world offer them, but for words that ``_Engine`` puts together."""
        fields = {"grid": grid.flags(state.food) + 2 * grid.flags(state.poison)}
        fields |= {name: getattr(state, name) for name in ("x", "y", "event")}
        pairs = {name: jnp.stack(getattr(state, name), axis=-1) for name in ("energy", "steps", "key")}
        return {**fields, **pairs, "food_count": state.food_count, "poison_count": state.poison_count}

    def to_dict(self, state: State) -> dict[str, Any]:
        return state_dict.to_dict(state)

    def from_dict(self, state: dict[str, Any]) -> State:
        return state_dict.from_dict(state)


class _MarkedGames(_Games):
    """The same games with their marks."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(mode)
        self.marked = MarkedGame(Variant(mode))

    def reset(self, state: State, seeds: Array, wanted: Array) -> tuple[State, Fired]:
        fresh, fired = jax.vmap(self.marked.reset)(_keys(seeds))
        return choose(wanted, fresh, state), fired & wanted[:, None]

    def restart(self, state: State, wanted: Array) -> tuple[State, Fired]:
        return jax.vmap(self.marked.restart)(state, wanted)

    def step(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        (state, outcome), fired = jax.vmap(self.marked.step)(state, actions)
        return state, _stepped(state, outcome), fired

    def step_restarting(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        (final, outcome), fired = jax.vmap(self.marked.step)(state, actions)
        state, began = jax.vmap(self.marked.restart)(final, outcome.terminated | outcome.truncated)
        return state, _stepped(final, outcome), fired.astype(jnp.int32) + began

    def show(self, state: State) -> tuple[Shown, Fired]:
        observation, fired = jax.vmap(self.marked.observe)(state)
        return _shown(state, observation), fired


def _of_each_mode(kind: type[_Games]) -> dict[str, _Games]:
    """A games object for each mode, each of a class of its own, by which kept programs are told apart."""
    return {name: type(f"{kind.__qualname__}:{name}", (kind,), {})(mode) for name, mode in MODES.items()}


_GAMES, _MARKED_GAMES = _of_each_mode(_Games), _of_each_mode(_MarkedGames)


class _Engine(JaxEngine):
    """The kit's engine; numbers of 64 bits are put together in numpy, since JAX has words alone."""

    def __init__(self, games: int, world: JaxGames) -> None:
        super().__init__(games, world)
        self._rested_at: dict[int, np.uint32] = {}

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        self._forget_rests(slots)
        return super().reset(seeds, slots)

    def set_state(self, states: Sequence[dict[str, Any]], slots: Slots) -> NDArray[Any]:
        seen = super().set_state(states, slots)
        self._forget_rests(slots)
        return seen

    def rest(self, slots: Slots) -> None:
        event = np.asarray(self._state.event)
        self._rested_at.update((slot, event[slot]) for slot in slots.tolist())

    def restart(self, slots: Slots) -> NDArray[Any]:
        rested = [slot for slot in slots.tolist() if slot in self._rested_at]
        if rested:
            event = np.array(self._state.event)
            event[rested] = [self._rested_at.pop(slot) for slot in rested]
            self._state = self._state._replace(event=event[self._original])
        return super().restart(slots)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return _with_facts(super().step(actions))

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return _with_facts(super().step_restarting(actions))

    def facts(self) -> NDArray[np.int64]:
        return state_dict.whole(super().facts())

    def state_arrays(self) -> Mapping[str, NDArray[Any]]:
        arrays = dict(super().state_arrays() or {})
        return arrays | {name: state_dict.whole(arrays[name]) for name in ("energy", "steps")}

    def _forget_rests(self, slots: Slots) -> None:
        for slot in slots.tolist():
            self._rested_at.pop(slot, None)


def open_jax(mode: Mode, games: int, options: EngineOptions = EngineOptions()) -> BatchEngine:
    """``games`` games of a mode in training, jitted in this process. It heeds ``marks``."""
    return _Engine(games, (_MARKED_GAMES if options.marks else _GAMES)[mode.name])


def _keys(seeds: Array) -> Seed:
    return Seed(seeds[:, 0], seeds[:, 1])


def _shown(state: State, observation: Array) -> Shown:
    mask = jnp.ones((len(state.x), len(ACTIONS)), bool)
    return Shown(observation, mask, jnp.stack(state.key, axis=-1), _facts(state))


def _stepped(final: State, outcome: Outcome) -> Stepped:
    happened = (outcome.ate_food, outcome.ate_poison, outcome.terminated)
    events = sum((each.astype(jnp.uint32) << bit for bit, each in enumerate(happened)), start=jnp.uint32(0))
    ends = (outcome.terminated, outcome.truncated)
    return Stepped(outcome.components, outcome.reward, *ends, _facts(final), events)


def _facts(state: State) -> Array:
    """Energy and steps in words: uint32 (n, 2, 2)."""
    return jnp.stack([jnp.stack(number, axis=-1) for number in (state.energy, state.steps)], axis=1)


def _with_facts(step: BatchStep) -> BatchStep:
    return replace(step, facts=state_dict.whole(step.facts))

"""A world's JAX engine as the harness and the environments play it: ``TrainEnvEngine``."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from parity import BatchEngine, BatchStep, Slots
from parity import State as StateDict
from worldkit.jaxkit.threefry import seed_pairs
from worldkit.purejaxrl.train_env import State, TrainEnv, TrainStep

SeedOf = Callable[[State], Array]


class _Shown(NamedTuple):
    """What can be seen of the games (n, …) between steps."""

    observation: Array
    mask: Array
    seeds: Array


class TrainEnvEngine(BatchEngine):
    """``games`` games of a ``TrainEnv``, vmapped and jitted, with numpy arrays at the border.

    A world subclasses it and says how a state becomes a dict and back. Events are the ``events`` of a step, in the
    order in which the world's ``parity.World`` names them.
    """

    def __init__(self, env: TrainEnv, games: int, events: Sequence[str] = ()) -> None:
        self.games = games
        self._env, self._events = env, tuple(events)
        self._programs = {
            "reset": jax.jit(partial(_reset, env, self.seed_of)),
            "restart": jax.jit(partial(_restart, env, self.seed_of)),
            "step": jax.jit(partial(_step, env, self.seed_of, self._events)),
            "show": jax.jit(partial(_show, env, self.seed_of)),
        }
        blank = jax.tree.map(
            lambda leaf: jnp.zeros((games, *leaf.shape), leaf.dtype),
            jax.eval_shape(env.reset, jnp.zeros(2, jnp.uint32)),
        )
        self._take(self._programs["reset"](blank, np.zeros((games, 2), np.uint32), np.ones(games, np.bool_)))

    @abstractmethod
    def seed_of(self, state: State) -> Array:
        """The seed, uint32 (2,), low word first, from which a game draws; traced by JAX."""

    @abstractmethod
    def to_dict(self, state: State) -> StateDict:
        """One game's complete state, numpy leaves, as JSON values."""

    @abstractmethod
    def from_dict(self, state: StateDict) -> State:
        """The state that a dict describes; raises StateRefused where it is against the rules."""

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        pairs = np.zeros((self.games, 2), np.uint32)
        pairs[slots] = seed_pairs(seeds)
        return self._take(self._programs["reset"](self._state, pairs, self._chosen(slots)))[slots]

    def restart(self, slots: Slots) -> NDArray[Any]:
        return self._take(self._programs["restart"](self._state, self._chosen(slots)))[slots]

    def seeds(self) -> NDArray[np.uint64]:
        return np.ascontiguousarray(self._shown.seeds).view(np.uint64)[:, 0]

    def mask(self) -> NDArray[np.bool_]:
        return np.asarray(self._shown.mask)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        state, shown, step, events = self._programs["step"](self._state, actions)
        observation = self._take((state, shown))
        components, reward, terminated = map(np.asarray, (step.components, step.reward, step.terminated))
        truncated = np.asarray(step.truncated) if self._env.can_truncate else None
        happened = np.asarray(events) if self._events else None
        return BatchStep(observation, components, reward, terminated, truncated, None, happened)

    def get_state(self, slots: Slots) -> list[StateDict]:
        host = jax.device_get(self._state)
        return [self.to_dict(jax.tree.map(lambda leaf, slot=slot: leaf[slot], host)) for slot in slots]

    def set_state(self, states: Sequence[StateDict], slots: Slots) -> NDArray[Any]:
        given = [self.from_dict(state) for state in states]

        def placed(old: Array, *new: Array) -> NDArray[Any]:
            leaf = np.array(old)
            leaf[slots] = new
            return leaf

        state = jax.tree.map(placed, self._state, *given)
        return self._take((state, self._programs["show"](state)))[slots]

    def _take(self, made: tuple[State, _Shown]) -> NDArray[Any]:
        """Take the new states of all games; returns their observations."""
        self._state, self._shown = made
        return np.asarray(self._shown.observation)

    def _chosen(self, slots: Slots) -> NDArray[np.bool_]:
        chosen = np.zeros(self.games, np.bool_)
        chosen[slots] = True
        return chosen


def _show(env: TrainEnv, seed_of: SeedOf, state: State) -> _Shown:
    return _Shown(jax.vmap(env.observe)(state), jax.vmap(env.mask)(state), jax.vmap(seed_of)(state))


def _choose(wanted: Array, new: State, old: State) -> State:
    def leaf(new: Array, old: Array) -> Array:
        return jnp.where(wanted.reshape(-1, *(1,) * (new.ndim - 1)), new, old)

    return jax.tree.map(leaf, new, old)


def _reset(env: TrainEnv, seed_of: SeedOf, state: State, seeds: Array, wanted: Array) -> tuple[State, _Shown]:
    state = _choose(wanted, jax.vmap(env.reset)(seeds), state)
    return state, _show(env, seed_of, state)


def _restart(env: TrainEnv, seed_of: SeedOf, state: State, wanted: Array) -> tuple[State, _Shown]:
    state = _choose(wanted, jax.vmap(env.restart)(state), state)
    return state, _show(env, seed_of, state)


def _step(
    env: TrainEnv,
    seed_of: SeedOf,
    events: tuple[str, ...],
    state: State,
    actions: Array,
) -> tuple[State, _Shown, TrainStep, Array]:
    step: TrainStep = jax.vmap(env.play)(state, actions)
    bits = [step.events[name].astype(jnp.uint32) << bit for bit, name in enumerate(events)]
    happened = sum(bits, start=jnp.zeros(len(actions), jnp.uint32))
    return step.final, _show(env, seed_of, step.final), step, happened

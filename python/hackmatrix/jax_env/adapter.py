"""The JAX engine as everybody plays it: the parity contract over jitted batch functions, numpy at the border."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hackmatrix import jax_env
from hackmatrix.jax_env import marked
from hackmatrix.jax_env.bitboard import HALF, Cells, Number
from hackmatrix.jax_env.state import BLANK_STATE, Snapshot, State, choose
from hackmatrix.rules import EVENTS, FACTS, FIRST_PROGRAM, MARKS
from parity import BatchEngine, BatchStep, EngineOptions
from worldkit.jaxkit.threefry import seed_pairs

Slots = NDArray[np.intp]

_FIRST_TYPE = 1
"""In cells, types count from 1, because 0 stands for nobody."""


class Shown(NamedTuple):
    """What can be seen of the games (n, …) between steps."""

    observation: Array
    mask: Array
    seeds: Array
    facts: Array


class Stepped(NamedTuple):
    """What a step of the games (n, …) gave."""

    components: Array
    reward: Array
    terminated: Array
    facts: Array
    events: Array


class JaxEngine(BatchEngine):
    """``games`` games of the JAX engine, vmapped and jitted. It heeds ``marks``."""

    def __init__(self, games: int, options: EngineOptions = EngineOptions()) -> None:
        self.games = games
        self._marking = options.marks
        blank: State = jax.tree.map(lambda leaf: np.zeros(games, leaf.dtype), BLANK_STATE)
        seeds = np.zeros((games, 2), np.uint32)
        self._state, self._shown, _ = _reset(blank, seeds, np.ones(games, np.bool_), self._marking)
        self._counts = np.zeros(len(MARKS), np.int64)
        self._arrays: Mapping[str, Array] | None = None
        self._shows_arrays = False
        self._begun: tuple[bytes, bool, tuple[State, Shown, Stepped, Array | None]] | None = None

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        pairs = np.zeros((self.games, 2), np.uint32)
        pairs[slots] = seed_pairs(seeds)
        return self._placed(_reset(self._state, pairs, self._chosen(slots), self._marking), slots)

    def restart(self, slots: Slots) -> NDArray[Any]:
        return self._placed(_restart(self._state, self._chosen(slots), self._marking), slots)

    def seeds(self) -> NDArray[np.uint64]:
        return np.ascontiguousarray(self._shown.seeds).view(np.uint64)[:, 0]

    def mask(self) -> NDArray[np.bool_]:
        return np.asarray(self._shown.mask)

    def facts(self) -> NDArray[np.uint32]:
        return np.asarray(self._shown.facts)

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        """JAX dispatches the step and returns."""
        run = _step_restarting if restarting else _step
        begun = run(self._state, actions, self._marking)
        self._arrays = _state_arrays(begun[0]) if self._shows_arrays else None
        self._begun = (actions.tobytes(), restarting, begun)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=False)

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=True)

    def get_state(self, slots: Slots) -> list[dict[str, Any]]:
        host: State = jax.device_get(self._state)
        return [jax_env.get_state(jax.tree.map(lambda leaf, slot=slot: leaf[slot], host)) for slot in slots]

    def set_state(self, states: Sequence[dict[str, Any]], slots: Slots) -> NDArray[Any]:
        given = [jax_env.set_state(state) for state in states]

        def placed(old: Array, *new: Array) -> NDArray[Any]:
            leaf = np.array(old)
            leaf[slots] = new
            return leaf

        state = jax.tree.map(placed, self._state, *given)
        return self._placed((state, *_show(state, self._chosen(slots), self._marking)), slots)

    def state_arrays(self) -> Mapping[str, NDArray[Any]]:
        """The fields of docs/protocol.md's packed states. Asked for once, they are made along with every step."""
        self._shows_arrays = True
        if self._arrays is None:
            self._arrays = _state_arrays(self._state)
        return {name: np.asarray(values) for name, values in self._arrays.items()}

    def marks(self) -> NDArray[np.integer[Any]] | None:
        return self._counts if self._marking else None

    def _placed(self, made: tuple[State, Shown, Array | None], slots: Slots) -> NDArray[Any]:
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
        components, reward, terminated, facts, events = map(np.asarray, stepped)
        return BatchStep(np.asarray(self._shown.observation), components, reward, terminated, None, facts, events)

    def _count(self, fired: Array | None) -> None:
        if fired is not None:
            self._counts = self._counts + np.asarray(fired)

    def _chosen(self, slots: Slots) -> NDArray[np.bool_]:
        chosen = np.zeros(self.games, np.bool_)
        chosen[slots] = True
        return chosen


_jit = partial(jax.jit, static_argnames="marking")
"""With ``marking`` the last result is how often each mark fired, all games together, int32 (187,); else None."""


@_jit
def _show(state: State, rows: Array, marking: bool) -> tuple[Shown, Array | None]:
    """What can be seen of all games; marks of observing are those of the games in ``rows``, bool (n,)."""
    if marking:
        observation, fired = jax.vmap(marked.observe)(state)
        counts = _total(fired & rows[:, None])
    else:
        observation, counts = jax.vmap(jax_env.observe)(state), None
    return Shown(observation, jax.vmap(jax_env.mask)(state), jnp.stack(state.seed, axis=-1), _facts(state)), counts


@_jit
def _reset(state: State, seeds: Array, wanted: Array, marking: bool) -> tuple[State, Shown, Array | None]:
    counts = None
    if marking:
        fresh, fired = jax.vmap(marked.reset)(seeds)
        counts = _total(fired & wanted[:, None])
    else:
        fresh = jax.vmap(jax_env.reset)(seeds)
    state = choose(wanted, fresh, state)
    shown, seen = _show(state, wanted, marking)
    return state, shown, _sum(counts, seen)


@_jit
def _restart(state: State, wanted: Array, marking: bool) -> tuple[State, Shown, Array | None]:
    state, counts = _restarted(state, wanted, marking)
    shown, seen = _show(state, wanted, marking)
    return state, shown, _sum(counts, seen)


def _restarted(state: State, wanted: Array, marking: bool) -> tuple[State, Array | None]:
    if not marking:
        return jax.vmap(jax_env.restart)(state, wanted), None
    state, fired = jax.vmap(marked.restart)(state, wanted)
    return state, _total(fired)


@_jit
def _step(state: State, actions: Array, marking: bool) -> tuple[State, Shown, Stepped, Array | None]:
    counts = None
    if marking:
        state, result, fired = jax.vmap(marked.step)(state, actions)
        counts = _total(fired)
    else:
        state, result = jax.vmap(jax_env.step)(state, actions)
    shown, seen = _show(state, jnp.ones(len(actions), bool), marking)
    return state, shown, _stepped(state, result), _sum(counts, seen)


@_jit
def _step_restarting(state: State, actions: Array, marking: bool) -> tuple[State, Shown, Stepped, Array | None]:
    counts = None
    if marking:
        final, result, fired = jax.vmap(marked.step)(state, actions)
        state, started = _restarted(final, result.terminated, marking)
        counts = _sum(_total(fired), started)
    else:
        state, result, final = jax.vmap(jax_env.step_auto_reset)(state, actions)
        # the last state of a game that ended, the present one of a game that goes on
        final = choose(result.terminated, final, state)
    shown, seen = _show(state, jnp.ones(len(actions), bool), marking)
    return state, shown, _stepped(final, result), _sum(counts, seen)


def _total(fired: Array) -> Array:
    """In how many games each mark fired: int32 (187,) from bool (n, 187)."""
    return jnp.sum(fired, axis=0, dtype=jnp.int32)


def _sum(counts: Array | None, more: Array | None) -> Array | None:
    return None if counts is None or more is None else counts + more


def _stepped(final: State, result: jax_env.StepResult) -> Stepped:
    happened = [getattr(result, name).astype(jnp.uint32) << bit for bit, name in enumerate(EVENTS)]
    events = sum(happened, start=jnp.uint32(0))
    reward = jax.vmap(jax_env.reward)(result.components)
    return Stepped(result.components, reward, result.terminated, _facts(final), events)


def _facts(state: State) -> Array:
    return jnp.stack([getattr(state.now, name).astype(jnp.uint32) for name in FACTS], axis=-1)


@jax.jit
def _state_arrays(state: State) -> Mapping[str, Array]:
    cells = jnp.stack([_cells(state.now), _cells(state.history)], axis=1)
    return {"scalars": _scalars(state), "cells": cells}


def _scalars(state: State) -> Array:
    """The single values of docs/protocol.md's packed states, in its order: uint32 (n, 46)."""
    values = [*state.seed, state.event_number, state.kills_since_history, state.pickups_since_history]
    values += [state.has_history]
    for at in (state.now, state.history):
        values += [at.turn, at.scheduled_task_interval, at.next_scheduled_task_turn]
        values += [at.owned_programs << np.uint32(FIRST_PROGRAM)]
        values += [at.credits, at.energy, at.data_siphons, at.score, at.pending_siphon_transmissions]
        values += [at.player, at.hp, at.attack_damage, at.stage, at.show_activated, at.scheduled_tasks_disabled]
        values += [at.step_active, at.atk_plus_uses, at.closest_approach, at.exit]
    return jnp.stack([value.astype(jnp.uint32) for value in values], axis=-1)


def _cells(at: Snapshot) -> Array:
    """The planes of docs/protocol.md's packed states, in its order: uint8 (n, 14, 36)."""
    blocks, enemies, coming = _flags(at.blocks), _flags(at.enemies), _flags(at.transmissions)
    programs = _flags(at.program_blocks)
    enemy_type = _values(at.enemy_type) + _FIRST_TYPE
    origin = _flags(at.from_siphon) + 2 * _flags(at.from_schedule)
    timer = _values(at.timer)
    cryptogs = enemies * (enemy_type == 4)
    planes = [
        blocks * (1 + 2 * _flags(at.questions) + programs),
        _values(at.points) + programs * (_values(at.content) + FIRST_PROGRAM),
        _values(at.spawn_count),
        _values(at.cell_credits),
        _values(at.cell_energy),
        _flags(at.pickups) + 2 * _flags(at.siphoned) + 4 * _flags(at.siphon_centers),
        enemies * enemy_type,
        _values(at.enemy_hp),
        enemies * timer,
        enemies * (origin + 4 * _flags(at.stunned)),
        cryptogs * (_values(at.last_known) + 1),
        coming * enemy_type,
        coming * timer,
        coming * origin,
    ]
    return jnp.stack(planes, axis=1).astype(jnp.uint8)


def _flags(cells: Cells) -> Array:
    """1 for every cell of a set: uint32 (n, 36)."""
    bits = np.arange(HALF, dtype=np.uint32)
    return jnp.concatenate([(half[:, None] >> bits) & 1 for half in cells], axis=1)


def _values(number: Number) -> Array:
    """The value of every cell: uint32 (n, 36)."""
    return sum((_flags(plane) << digit for digit, plane in enumerate(number)), start=jnp.uint32(0))

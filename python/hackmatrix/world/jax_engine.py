"""The JAX engine as the harness sees it: jitted batch functions, and numpy arrays at the border."""

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
from hackmatrix.jax_env.marks import NAMES
from hackmatrix.jax_env.state import Snapshot, State, choose
from hackmatrix.jax_env.tables import FIRST_PROGRAM_ACTION
from hackmatrix.rules import EVENTS, FACTS
from parity import BatchEngine, BatchStep, EngineOptions

Slots = NDArray[np.intp]

_FIRST_TYPE = 1
"""In cells, types count from 1, because 0 stands for nobody."""


class Shown(NamedTuple):
    """What can be seen of the games (n, …) between steps."""

    observation: Array
    mask: Array
    seeds: Array
    scalars: Array
    cells: Array


class Stepped(NamedTuple):
    """What a step of the games (n, …) gave."""

    components: Array
    reward: Array
    terminated: Array
    facts: Array
    events: Array


class JaxEngine(BatchEngine):
    """``games`` games of the JAX engine, vmapped and jitted."""

    def __init__(self, games: int, options: EngineOptions = EngineOptions()) -> None:
        self.games = games
        self._counts = np.zeros(len(NAMES), np.int64) if options.marks else None
        self._state, self._shown, _ = _reset(jax_env.seed_pairs(np.zeros(games, np.uint64)), options.marks)
        self._begun: tuple[bytes, bool, tuple[State, Shown, Stepped, Array | None]] | None = None

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        """As BatchEngine: new games."""
        all_seeds = self.seeds().copy()
        all_seeds[slots] = seeds
        pairs = jax_env.seed_pairs(all_seeds)
        return self._placed(_reset_where(self._state, pairs, self._rows(slots), self._marking), slots)

    def restart(self, slots: Slots) -> NDArray[Any]:
        """As BatchEngine: the games that R6 names."""
        return self._placed(_restart_where(self._state, self._rows(slots), self._marking), slots)

    def seeds(self) -> NDArray[np.uint64]:
        """As BatchEngine: the seeds."""
        return np.ascontiguousarray(self._shown.seeds).view(np.uint64)[:, 0]

    def mask(self) -> NDArray[np.bool_]:
        """As BatchEngine: the masks."""
        return np.asarray(self._shown.mask)

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        """As BatchEngine: JAX dispatches the step and returns."""
        run = _step_restarting if restarting else _step
        self._begun = (actions.tobytes(), restarting, run(self._state, actions, self._marking))

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        """As BatchEngine: a step."""
        return self._step(actions, restarting=False)

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        """As BatchEngine: a step with the engine's own auto-reset."""
        return self._step(actions, restarting=True)

    def get_state(self, slots: Slots) -> list[dict[str, Any]]:
        """As BatchEngine: complete states."""
        host: State = jax.device_get(self._state)
        return [jax_env.get_state(jax.tree.map(lambda leaf, slot=slot: leaf[slot], host)) for slot in slots]

    def set_state(self, states: Sequence[dict[str, Any]], slots: Slots) -> NDArray[Any]:
        """As BatchEngine: observations of the states taken."""
        given = [jax_env.set_state(state) for state in states]

        def placed(old: Array, *new: Array) -> NDArray[Any]:
            leaf = np.array(old)
            leaf[slots] = new
            return leaf

        state = jax.tree.map(placed, self._state, *given)
        return self._placed((state, *_show(state, self._rows(slots), self._marking)), slots)

    def state_arrays(self) -> Mapping[str, NDArray[Any]]:
        """As BatchEngine: the fields of docs/protocol.md's packed states."""
        return {"scalars": np.asarray(self._shown.scalars), "cells": np.asarray(self._shown.cells)}

    def marks(self) -> NDArray[np.integer[Any]] | None:
        """As BatchEngine: mark counts."""
        return self._counts

    @property
    def _marking(self) -> bool:
        return self._counts is not None

    def _count(self, fired: Array | None) -> None:
        if self._counts is not None:
            self._counts = self._counts + np.asarray(fired)

    def _placed(self, made: tuple[State, Shown, Array | None], slots: Slots) -> NDArray[Any]:
        """Take new states of some games; returns their observations."""
        self._state, self._shown, fired = made
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

    def _rows(self, slots: Slots) -> NDArray[np.bool_]:
        rows = np.zeros(self.games, np.bool_)
        rows[slots] = True
        return rows


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
    shown = Shown(
        observation=observation,
        mask=jax.vmap(jax_env.mask)(state),
        seeds=jnp.stack(state.seed, axis=-1),
        scalars=_scalars(state),
        cells=jnp.stack([_cells(state.now), _cells(state.history)], axis=1),
    )
    return shown, counts


@_jit
def _reset(seeds: Array, marking: bool) -> tuple[State, Shown, Array | None]:
    state = jax.vmap(jax_env.reset)(seeds)
    return state, *_show(state, jnp.ones(len(seeds), bool), marking)


@_jit
def _reset_where(state: State, seeds: Array, wanted: Array, marking: bool) -> tuple[State, Shown, Array | None]:
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
def _restart_where(state: State, wanted: Array, marking: bool) -> tuple[State, Shown, Array | None]:
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
    facts = jnp.stack([getattr(final.now, name).astype(jnp.uint32) for name in FACTS], axis=-1)
    happened = [getattr(result, name).astype(jnp.uint32) << bit for bit, name in enumerate(EVENTS)]
    events = sum(happened, start=jnp.uint32(0))
    return Stepped(result.components, jax.vmap(jax_env.reward)(result.components), result.terminated, facts, events)


def _scalars(state: State) -> Array:
    """The single values of docs/protocol.md's packed states, in its order: uint32 (n, 46)."""
    values = [*state.seed, state.event, state.kills, state.pickups, state.has_history]
    for at in (state.now, state.history):
        values += [at.turn, at.interval, at.next_spawn, at.programs << np.uint32(FIRST_PROGRAM_ACTION)]
        values += [at.credits, at.energy, at.siphons, at.score, at.pending]
        values += [at.player, at.hp, at.attack, at.stage, at.show, at.calm, at.step, at.attack_boosts]
        values += [at.closest, at.exit]
    return jnp.stack([value.astype(jnp.uint32) for value in values], axis=-1)


def _cells(at: Snapshot) -> Array:
    """The planes of docs/protocol.md's packed states, in its order: uint8 (n, 14, 36)."""
    blocks, enemies, coming = _flags(at.blocks), _flags(at.enemies), _flags(at.transmissions)
    programs = _flags(at.program_blocks)
    kind = _values(at.kind) + _FIRST_TYPE
    origin = _flags(at.from_siphon) + 2 * _flags(at.from_schedule)
    timer = _values(at.timer)
    cryptogs = enemies * (kind == 4)
    planes = [
        blocks * (1 + 2 * _flags(at.questions) + programs),
        _values(at.points) + programs * (_values(at.content) + FIRST_PROGRAM_ACTION),
        _values(at.spawn),
        _values(at.cell_credits),
        _values(at.cell_energy),
        _flags(at.pickups) + 2 * _flags(at.siphoned) + 4 * _flags(at.centres),
        enemies * kind,
        _values(at.enemy_hp),
        enemies * timer,
        enemies * (origin + 4 * _flags(at.stunned)),
        cryptogs * (_values(at.last_known) + 1),
        coming * kind,
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

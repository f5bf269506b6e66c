"""The JAX engine as the harness sees it: jitted batch functions, and numpy arrays at the border."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hackmatrix import jax_env
from hackmatrix.errors import StateError
from hackmatrix.jax_env.bitboard import HALF, Cells, Number
from hackmatrix.jax_env.state import Snapshot, State, choose
from hackmatrix.jax_env.tables import FIRST_PROGRAM_ACTION
from parity import BatchEngine, BatchStep, EngineError, StateRefused

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
    info: dict[str, Array]


class JaxEngine(BatchEngine):
    """``games`` games of the JAX engine, vmapped and jitted."""

    def __init__(self, games: int, *, marks: bool = False) -> None:
        if marks:
            raise EngineError("the JAX engine counts no marks: run without coverage.")
        self.games = games
        self._state, self._shown = _reset(_words(np.zeros(games, np.uint64)))
        self._begun: tuple[bytes, bool, tuple[State, Shown, Stepped]] | None = None

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        """As BatchEngine: new games."""
        all_seeds = self.seeds().copy()
        all_seeds[slots] = seeds
        self._state, self._shown = _reset_where(self._state, _words(all_seeds), self._flags(slots))
        return np.asarray(self._shown.observation)[slots]

    def restart(self, slots: Slots) -> NDArray[Any]:
        """As BatchEngine: the games that R6 names."""
        self._state, self._shown = _restart_where(self._state, self._flags(slots))
        return np.asarray(self._shown.observation)[slots]

    def seeds(self) -> NDArray[np.uint64]:
        """As BatchEngine: the seeds."""
        return np.ascontiguousarray(self._shown.seeds).view(np.uint64)[:, 0]

    def mask(self) -> NDArray[np.bool_]:
        """As BatchEngine: the masks."""
        return np.asarray(self._shown.mask)

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        """As BatchEngine: JAX dispatches the step and returns."""
        run = _step_restarting if restarting else _step
        self._begun = (actions.tobytes(), restarting, run(self._state, actions))

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
        try:
            given = [jax_env.set_state(state) for state in states]
        except StateError as error:
            raise StateRefused(str(error)) from error

        def placed(old: Array, *new: Array) -> NDArray[Any]:
            leaf = np.array(old)
            leaf[slots] = new
            return leaf

        self._state = jax.tree.map(placed, self._state, *given)
        self._shown = _show(self._state)
        return np.asarray(self._shown.observation)[slots]

    def state_arrays(self) -> Mapping[str, NDArray[Any]]:
        """As BatchEngine: the fields of docs/protocol.md's packed states."""
        return {"scalars": np.asarray(self._shown.scalars), "cells": np.asarray(self._shown.cells)}

    def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        if self._begun is None or self._begun[:2] != (actions.tobytes(), restarting):
            self.begin_step(actions, restarting=restarting)
        assert self._begun is not None
        self._state, self._shown, stepped = self._begun[2]
        self._begun = None
        components, reward, terminated, info = jax.tree.map(np.asarray, stepped)
        return BatchStep(np.asarray(self._shown.observation), components, reward, terminated, info=info)

    def _flags(self, slots: Slots) -> NDArray[np.bool_]:
        flags = np.zeros(self.games, np.bool_)
        flags[slots] = True
        return flags


def _words(seeds: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Seeds (n,) as pairs of words (n, 2), low word first."""
    return np.stack([seeds & np.uint64(0xFFFFFFFF), seeds >> np.uint64(32)], axis=1).astype(np.uint32)


@jax.jit
def _show(state: State) -> Shown:
    return Shown(
        observation=jax.vmap(jax_env.observe)(state),
        mask=jax.vmap(jax_env.mask)(state),
        seeds=jnp.stack(state.seed, axis=-1),
        scalars=_scalars(state),
        cells=jnp.stack([_cells(state.now), _cells(state.history)], axis=1),
    )


@jax.jit
def _reset(seeds: Array) -> tuple[State, Shown]:
    state = jax.vmap(jax_env.reset)(seeds)
    return state, _show(state)


@jax.jit
def _reset_where(state: State, seeds: Array, wanted: Array) -> tuple[State, Shown]:
    state = choose(wanted, jax.vmap(jax_env.reset)(seeds), state)
    return state, _show(state)


@jax.jit
def _restart_where(state: State, wanted: Array) -> tuple[State, Shown]:
    state = jax.vmap(jax_env.restart)(state, wanted)
    return state, _show(state)


@jax.jit
def _step(state: State, actions: Array) -> tuple[State, Shown, Stepped]:
    state, result = jax.vmap(jax_env.step)(state, actions)
    return state, _show(state), _stepped(state, result)


@jax.jit
def _step_restarting(state: State, actions: Array) -> tuple[State, Shown, Stepped]:
    state, result, final = jax.vmap(jax_env.step_auto_reset)(state, actions)
    # the last state of a game that ended, the present one of a game that goes on
    return state, _show(state), _stepped(choose(result.terminated, final, state), result)


def _stepped(final: State, result: jax_env.StepResult) -> Stepped:
    info = {
        "stage": final.now.stage,
        "score": final.now.score,
        "hp": final.now.hp,
        "turn": final.now.turn,
        "stage_complete": result.stage_complete,
        "death": result.death,
        "victory": result.victory,
        "invalid_action": result.invalid_action,
    }
    return Stepped(result.components, jax.vmap(jax_env.reward)(result.components), result.terminated, info)


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

"""The JAX engine as everybody plays it: its games for the kit's ``JaxEngine``, with or without marks."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix import jax_env
from hackmatrix.jax_env import marked
from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.halves import HALF
from hackmatrix.jax_env.state import BLANK_STATE, Snapshot, State, choose
from hackmatrix.jax_env.state_from_dict import read_state
from hackmatrix.rules import EVENTS, FACTS, FIRST_PROGRAM
from parity import BatchEngine, EngineOptions
from worldkit.jaxkit.engine import Fired, JaxEngine, JaxGames, Shown, Stepped

_FIRST_TYPE = 1
"""In cells, types count from 1, because 0 stands for nobody."""


class _Games(JaxGames):
    """Games that count no marks."""

    packages = ("hackmatrix",)

    def blank(self, games: int) -> State:
        blank: State = jax.tree.map(lambda leaf: np.zeros(games, leaf.dtype), BLANK_STATE)
        return blank

    def reset(self, state: State, seeds: Array, wanted: Array) -> tuple[State, Fired]:
        return choose(wanted, jax.vmap(jax_env.reset)(seeds), state), None

    def restart(self, state: State, wanted: Array) -> tuple[State, Fired]:
        return jax.vmap(jax_env.restart)(state, wanted), None

    def step(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        state, result = jax.vmap(jax_env.step)(state, actions)
        return state, _stepped(state, result), None

    def step_restarting(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        state, result, final = jax.vmap(jax_env.step_auto_reset)(state, actions)
        # the last state of a game that ended, the present one of a game that goes on
        return state, _stepped(choose(result.terminated, final, state), result), None

    def show(self, state: State) -> tuple[Shown, Fired]:
        return _shown(state, jax.vmap(jax_env.observe)(state)), None

    def arrays(self, state: State) -> Mapping[str, Array]:
        """The fields of docs/protocol.md's packed states."""
        cells = jnp.stack([_cells(state.now), _cells(state.history)], axis=1)
        return {"scalars": _scalars(state), "cells": cells}

    def to_dict(self, state: State) -> dict[str, Any]:
        return jax_env.get_state(state)

    def from_dict(self, state: dict[str, Any]) -> State:
        return read_state(state)


class _MarkedGames(_Games):
    """The same games with their marks."""

    def reset(self, state: State, seeds: Array, wanted: Array) -> tuple[State, Fired]:
        fresh, fired = jax.vmap(marked.reset)(seeds)
        return choose(wanted, fresh, state), fired & wanted[:, None]

    def restart(self, state: State, wanted: Array) -> tuple[State, Fired]:
        return jax.vmap(marked.restart)(state, wanted)

    def step(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        state, result, fired = jax.vmap(marked.step)(state, actions)
        return state, _stepped(state, result), fired

    def step_restarting(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        final, result, fired = jax.vmap(marked.step)(state, actions)
        state, started = jax.vmap(marked.restart)(final, result.terminated)
        return state, _stepped(final, result), fired.astype(jnp.int32) + started

    def show(self, state: State) -> tuple[Shown, Fired]:
        observation, fired = jax.vmap(marked.observe)(state)
        return _shown(state, observation), fired


_GAMES, _MARKED_GAMES = _Games(), _MarkedGames()


def open_jax(games: int, options: EngineOptions = EngineOptions()) -> BatchEngine:
    """``games`` games of the JAX engine, jitted in this process. It heeds ``marks``."""
    return JaxEngine(games, _MARKED_GAMES if options.marks else _GAMES)


def _shown(state: State, observation: Array) -> Shown:
    return Shown(observation, jax.vmap(jax_env.mask)(state), jnp.stack(state.seed, axis=-1), _facts(state))


def _stepped(final: State, result: jax_env.StepResult) -> Stepped:
    happened = [getattr(result, name).astype(jnp.uint32) << bit for bit, name in enumerate(EVENTS)]
    events = sum(happened, start=jnp.uint32(0))
    reward = jax.vmap(jax_env.reward)(result.components)
    return Stepped(result.components, reward, result.terminated, None, _facts(final), events)


def _facts(state: State) -> Array:
    return jnp.stack([getattr(state.now, name).astype(jnp.uint32) for name in FACTS], axis=-1)


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
    """1 for every cell of a set that is kept: uint32 (n, 36)."""
    bits = np.arange(HALF, dtype=np.uint32)
    return jnp.concatenate([(half[:, None] >> bits) & 1 for half in cells], axis=1)


def _values(number: Number) -> Array:
    """The value of every cell: uint32 (n, 36)."""
    return sum((_flags(plane) << digit for digit, plane in enumerate(number)), start=jnp.uint32(0))

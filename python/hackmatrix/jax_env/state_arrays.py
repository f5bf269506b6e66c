"""A state as the arrays of the protocol's packed states, for fast comparison."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.state import Snapshot, State
from hackmatrix.jax_env.word_pairs import HALF
from hackmatrix.rules import FIRST_PROGRAM


def state_arrays(state: State) -> dict[str, Array]:
    """One game, packed as docs/reference/protocol.md says: ``scalars`` uint32 (46,), ``cells`` uint8 (2, 14, 36)."""
    return {"scalars": _scalars(state), "cells": jnp.stack([_cells(state.now), _cells(state.history)])}


def _scalars(state: State) -> Array:
    """The single values, in the protocol's order."""
    values = [*state.seed, state.event_number, state.kills_since_history, state.pickups_since_history]
    values += [state.has_history]
    for at in (state.now, state.history):
        values += [at.turn, at.scheduled_task_interval, at.next_scheduled_task_turn]
        values += [at.owned_programs << np.uint32(FIRST_PROGRAM)]
        values += [at.credits, at.energy, at.data_siphons, at.score, at.pending_siphon_transmissions]
        values += [at.player, at.hp, at.attack_damage, at.stage, at.show_activated, at.scheduled_tasks_disabled]
        values += [at.step_active, at.atk_plus_uses, at.closest_approach, at.exit]
    return jnp.stack([value.astype(jnp.uint32) for value in values])


def _cells(at: Snapshot) -> Array:
    """The planes, in the protocol's order: uint8 (14, 36)."""
    blocks, enemies, coming = _flags(at.blocks), _flags(at.enemies), _flags(at.transmissions)
    programs = _flags(at.program_blocks)
    enemy_type = _values(at.enemy_type) + 1  # 0 stands for nobody
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
    return jnp.stack(planes).astype(jnp.uint8)


def _flags(cells: Cells) -> Array:
    """1 for every cell of a set: uint32 (36,)."""
    bits = np.arange(HALF, dtype=np.uint32)
    return jnp.concatenate([(half >> bits) & 1 for half in cells])


def _values(number: Number) -> Array:
    """The value of every cell: uint32 (36,)."""
    return sum((_flags(plane) << digit for digit, plane in enumerate(number)), start=jnp.uint32(0))

"""A state as the dict of the protocol (``S``), written on the host, and as its packed arrays (A3-A7)."""

from collections.abc import Callable, Iterable
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env.bitboard import HALF, Cells, Number, WordPair
from hackmatrix.jax_env.state import Snapshot, State, field_of
from hackmatrix.jax_env.tables import EnemyType
from rlparity.errors import StateRefused


def get_state(state: State) -> dict[str, Any]:
    """The state of one game as a dict of plain numbers, flags and lists; raises StateRefused for a batch of games."""
    leaves, structure = jax.tree.flatten(state)
    host: State = jax.tree.unflatten(structure, map(np.asarray, leaves))
    if np.shape(host.event_number) != ():
        raise StateRefused("get_state takes the state of one game; index the batch first, for example with tree.map.")
    return {
        **_snapshot(host.now),
        "seed": int(host.seed.low) | int(host.seed.high) << 32,
        "eventNumber": int(host.event_number),
        "killsSinceHistory": int(host.kills_since_history),
        "pickupsSinceHistory": int(host.pickups_since_history),
        "history": _snapshot(host.history) if host.has_history else None,
    }


def _snapshot(now: Snapshot) -> dict[str, Any]:
    at = {name: _values(plane) for name, plane in now._asdict().items() if isinstance(plane, tuple)}

    def each(plane: str, entry: Callable[[dict[str, list[int]], int], dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**_place(cell), **entry(at, cell)} for cell, there in enumerate(at[plane]) if there]

    at["resources"] = list(map(max, at["cell_credits"], at["cell_energy"], at["pickups"]))
    owned = enumerate(f"{int(now.owned_programs):b}"[::-1], rules.FIRST_PROGRAM)
    return {
        "player": {**_place(int(now.player)), **_numbers(now, rules.PLAYER_NUMBERS)},
        "enemies": each("enemies", _enemy),
        "transmissions": each("transmissions", _transmission),
        "blocks": each("blocks", _block),
        "resources": each("resources", _resource),
        "siphoned": each("siphoned", lambda at, cell: {}),
        "siphonCenters": each("siphon_centers", lambda at, cell: {}),
        "exit": _place(int(now.exit)),
        "ownedPrograms": [action for action, bit in owned if bit == "1"],
        **_numbers(now, rules.STAGE_FIELDS),
    }


def _numbers(now: Snapshot, words: Iterable[str]) -> dict[str, int | bool]:
    return {word: getattr(now, field_of(word)).item() for word in words}


def _enemy(at: dict[str, list[int]], cell: int) -> dict[str, Any]:
    row, col = divmod(at["last_known"][cell], rules.SIZE)
    is_cryptog = at["enemy_type"][cell] == EnemyType.CRYPTOG
    return {
        **_origin(at, cell),
        "type": rules.ENEMIES[at["enemy_type"][cell]],
        "hp": at["enemy_hp"][cell],
        "stunned": bool(at["stunned"][cell]),
        "disabledTurns": at["timer"][cell],
        **({"lastKnownRow": row, "lastKnownCol": col} if is_cryptog else {}),
    }


def _transmission(at: dict[str, list[int]], cell: int) -> dict[str, Any]:
    enemy_type = rules.ENEMIES[at["enemy_type"][cell]]
    return {**_origin(at, cell), "turnsRemaining": at["timer"][cell], "enemyType": enemy_type}


def _origin(at: dict[str, list[int]], cell: int) -> dict[str, bool]:
    flags = {"spawnedFromSiphon": "from_siphon", "isFromScheduledTask": "from_schedule"}
    return {word: bool(at[plane][cell]) for word, plane in flags.items()}


def _block(at: dict[str, list[int]], cell: int) -> dict[str, Any]:
    if at["program_blocks"][cell]:
        block_type, held = "program", {"programActionIndex": rules.FIRST_PROGRAM + at["content"][cell]}
    else:
        block_type, held = "data", {"points": at["points"][cell]}
    return {
        **held,
        "type": "question" if at["questions"][cell] else block_type,
        "spawnCount": at["spawn_count"][cell],
        "siphoned": bool(at["siphoned"][cell]),
    }


def _resource(at: dict[str, list[int]], cell: int) -> dict[str, Any]:
    amounts = {"credits": at["cell_credits"][cell], "energy": at["cell_energy"][cell]}
    return {**amounts, "dataSiphon": bool(at["pickups"][cell])}


def _values(plane: WordPair | Number) -> list[int]:
    """The value of every cell of a stored plane; for a set, 1 for its cells and 0 for the others."""
    values = [0] * rules.NUM_CELLS
    for digit, (low, high) in enumerate(cast(Iterable[WordPair], [plane] if isinstance(plane, WordPair) else plane)):
        bits = int(low) | int(high) << HALF
        while bits:  # most sets are small
            lowest = bits & -bits
            values[lowest.bit_length() - 1] |= 1 << digit
            bits ^= lowest
    return values


def _place(cell: int) -> dict[str, int]:
    row, col = divmod(cell, rules.SIZE)
    return {"row": row, "col": col}


def state_arrays(state: State) -> dict[str, Array]:
    """One game, packed as docs/reference/protocol.md says: ``scalars`` uint32 (46,), ``cells`` uint8 (2, 14, 36)."""
    return {"scalars": _scalars(state), "cells": jnp.stack([_cells(state.now), _cells(state.history)])}


def _scalars(state: State) -> Array:
    """The single values, in the protocol's order."""
    values = [*state.seed, state.event_number, state.kills_since_history, state.pickups_since_history]
    values += [state.has_history]
    for at in (state.now, state.history):
        values += [at.turn, at.scheduled_task_interval, at.next_scheduled_task_turn]
        values += [at.owned_programs << np.uint32(rules.FIRST_PROGRAM)]
        values += [at.credits, at.energy, at.data_siphons, at.score, at.pending_siphon_transmissions]
        values += [at.player, at.hp, at.attack_damage, at.stage, at.show_activated, at.scheduled_tasks_disabled]
        values += [at.step_active, at.atk_plus_uses, at.closest_approach, at.exit]
    return jnp.stack([value.astype(jnp.uint32) for value in values])


def _cells(at: Snapshot) -> Array:
    """The planes, in the protocol's order: uint8 (14, 36)."""
    blocks, enemies, coming = _flag_of_each(at.blocks), _flag_of_each(at.enemies), _flag_of_each(at.transmissions)
    programs = _flag_of_each(at.program_blocks)
    enemy_type = _value_of_each(at.enemy_type) + 1  # 0 stands for no enemy
    origin = _flag_of_each(at.from_siphon) + 2 * _flag_of_each(at.from_schedule)
    timer = _value_of_each(at.timer)
    cryptogs = enemies * (enemy_type == 4)
    planes = [
        blocks * (1 + 2 * _flag_of_each(at.questions) + programs),
        _value_of_each(at.points) + programs * (_value_of_each(at.content) + rules.FIRST_PROGRAM),
        _value_of_each(at.spawn_count),
        _value_of_each(at.cell_credits),
        _value_of_each(at.cell_energy),
        _flag_of_each(at.pickups) + 2 * _flag_of_each(at.siphoned) + 4 * _flag_of_each(at.siphon_centers),
        enemies * enemy_type,
        _value_of_each(at.enemy_hp),
        enemies * timer,
        enemies * (origin + 4 * _flag_of_each(at.stunned)),
        cryptogs * (_value_of_each(at.last_known) + 1),
        coming * enemy_type,
        coming * timer,
        coming * origin,
    ]
    return jnp.stack(planes).astype(jnp.uint8)


def _flag_of_each(cells: Cells) -> Array:
    """1 for every cell of a set: uint32 (36,)."""
    bits = np.arange(HALF, dtype=np.uint32)
    return jnp.concatenate([(half >> bits) & 1 for half in cells])


def _value_of_each(number: Number) -> Array:
    """The value of every cell: uint32 (36,)."""
    return sum((_flag_of_each(plane) << digit for digit, plane in enumerate(number)), start=jnp.uint32(0))

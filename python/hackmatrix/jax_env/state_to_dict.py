"""A state as the dict of the protocol (``S``), written on the host, and as its packed arrays (A3-A7)."""

from collections.abc import Callable, Iterable
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

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
    enemies, coming, programs = _bytes_of(at.enemies), _bytes_of(at.transmissions), _bytes_of(at.program_blocks)
    enemy_type, last_known, content = (_numbers_of(each) for each in (at.enemy_type, at.last_known, at.content))
    origin = _bytes_of(at.from_siphon) + 2 * _bytes_of(at.from_schedule)
    timer, cryptogs = _numbers_of(at.timer), enemies & _bytes_of(at.enemy_type[0]) & _bytes_of(at.enemy_type[1])
    planes = [
        _where(_bytes_of(at.blocks), _ONES + 2 * _bytes_of(at.questions) + programs),
        _numbers_of(at.points) + _where(programs, content + rules.FIRST_PROGRAM * _ONES),
        _numbers_of(at.spawn_count),
        _numbers_of(at.cell_credits),
        _numbers_of(at.cell_energy),
        _bytes_of(at.pickups) + 2 * _bytes_of(at.siphoned) + 4 * _bytes_of(at.siphon_centers),
        _where(enemies, enemy_type + _ONES),  # 0 stands for no enemy
        _numbers_of(at.enemy_hp),
        _where(enemies, timer),
        _where(enemies, origin + 4 * _bytes_of(at.stunned)),
        _where(cryptogs, last_known + _ONES),
        _where(coming, enemy_type + _ONES),
        _where(coming, timer),
        _where(coming, origin),
    ]
    return lax.bitcast_convert_type(jnp.stack(planes), jnp.uint8).reshape(len(planes), rules.NUM_CELLS)


_ONES = np.uint32(0x01010101)
"""The number 1 in each of four bytes."""


def _bytes_of(cells: Cells) -> Array:
    """1 for every cell of a set, each in a byte, since four cells in a word are computed at once: uint32 (9,)."""
    low, high = cast(WordPair, cells)  # the stored form
    first, rest = np.arange(0, HALF - 4, 4, dtype=np.uint32), np.arange(2, HALF, 4, dtype=np.uint32)
    fours = jnp.concatenate([low >> first, (low >> 16 | high << 2)[None], high >> rest]) & 0xF
    return fours * np.uint32(0x00204081) & _ONES  # moves bit i by 7 i


def _numbers_of(number: Number) -> Array:
    """The value of every cell, each in a byte: uint32 (9,)."""
    return sum((_bytes_of(plane) << digit for digit, plane in enumerate(number)), start=jnp.uint32(0))


def _where(flags: Array, values: Array) -> Array:
    """The values of the bytes that are 1 in ``flags``; 0 for the others."""
    return flags * 255 & values

"""A state as the dict of the protocol (``S``), written on the host (A3-A7)."""

from typing import Any, cast

import jax
import numpy as np

from hackmatrix import rules
from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.halves import HALF, Halves
from hackmatrix.jax_env.state import Snapshot, State, field_of
from hackmatrix.jax_env.tables import EnemyType
from parity.errors import StateRefused

_PLAYER = {word: field_of(word) for word in ("hp", "credits", "energy", "dataSiphons", "attackDamage", "score")}
_STAGE = {
    word: field_of(word)
    for word in rules.STATE_FIELDS[rules.STATE_FIELDS.index("stage") : rules.STATE_FIELDS.index("seed")]
}


def get_state(state: State) -> dict[str, Any]:
    """The complete state of one game (scalar leaves) as a dict of plain numbers, flags and lists.

    Raises:
        StateRefused: the leaves are not those of one game.
    """
    host: State = jax.device_get(state)
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
    return {
        "player": {**_place(int(now.player)), **_numbers(now, _PLAYER)},
        "enemies": _enemies(now),
        "transmissions": _transmissions(now),
        "blocks": _blocks(now),
        "resources": _resources(now),
        "siphoned": [_place(cell) for cell in _members(now.siphoned)],
        "siphonCenters": [_place(cell) for cell in _members(now.siphon_centers)],
        "exit": _place(int(now.exit)),
        "ownedPrograms": [
            rules.FIRST_PROGRAM + row for row in range(rules.NUM_PROGRAMS) if int(now.owned_programs) >> row & 1
        ],
        **_numbers(now, _STAGE),
    }


def _numbers(now: Snapshot, words: dict[str, str]) -> dict[str, int | bool]:
    return {word: getattr(now, field).item() for word, field in words.items()}


def _enemies(now: Snapshot) -> list[dict[str, Any]]:
    enemy_type, hp, timer, last_known = map(_values, (now.enemy_type, now.enemy_hp, now.timer, now.last_known))
    stunned, origins = _members(now.stunned), _origins(now)

    def hint(cell: int) -> dict[str, int]:
        row, col = divmod(last_known[cell], rules.SIZE)
        return {"lastKnownRow": row, "lastKnownCol": col} if enemy_type[cell] == EnemyType.CRYPTOG else {}

    return [
        {
            **_place(cell),
            **origins[cell],
            "type": rules.ENEMIES[enemy_type[cell]],
            "hp": hp[cell],
            "stunned": cell in stunned,
            "disabledTurns": timer[cell],
            **hint(cell),
        }
        for cell in _members(now.enemies)
    ]


def _transmissions(now: Snapshot) -> list[dict[str, Any]]:
    enemy_type, timer, origins = _values(now.enemy_type), _values(now.timer), _origins(now)
    return [
        {**_place(cell), **origins[cell], "turnsRemaining": timer[cell], "enemyType": rules.ENEMIES[enemy_type[cell]]}
        for cell in _members(now.transmissions)
    ]


def _origins(now: Snapshot) -> list[dict[str, bool]]:
    """For every cell the origin flags of what stands there."""
    siphon, schedule = _members(now.from_siphon), _members(now.from_schedule)
    return [
        {"spawnedFromSiphon": cell in siphon, "isFromScheduledTask": cell in schedule}
        for cell in range(rules.NUM_CELLS)
    ]


def _blocks(now: Snapshot) -> list[dict[str, Any]]:
    points, content, spawn_count = _values(now.points), _values(now.content), _values(now.spawn_count)
    program_blocks, questions, siphoned = map(_members, (now.program_blocks, now.questions, now.siphoned))

    def holds(cell: int) -> tuple[str, dict[str, int]]:
        if cell in program_blocks:
            return "program", {"programActionIndex": rules.FIRST_PROGRAM + content[cell]}
        return "data", {"points": points[cell]}

    def block(cell: int) -> dict[str, Any]:
        block_type, held = holds(cell)
        return {
            **_place(cell),
            **held,
            "type": "question" if cell in questions else block_type,
            "spawnCount": spawn_count[cell],
            "siphoned": cell in siphoned,
        }

    return [block(cell) for cell in _members(now.blocks)]


def _resources(now: Snapshot) -> list[dict[str, Any]]:
    credits, energy, pickups = _values(now.cell_credits), _values(now.cell_energy), _members(now.pickups)
    return [
        {**_place(cell), "credits": credits[cell], "energy": energy[cell], "dataSiphon": cell in pickups}
        for cell in range(rules.NUM_CELLS)
        if credits[cell] or energy[cell] or cell in pickups
    ]


def _members(kept: Cells) -> list[int]:
    """The cells of a set, as a state keeps it, in ascending order."""
    low, high = cast(Halves, kept)
    bits = int(low) | int(high) << HALF
    members = []
    while bits:  # most sets are small
        lowest = bits & -bits
        members.append(lowest.bit_length() - 1)
        bits ^= lowest
    return members


def _values(number: Number) -> list[int]:
    values = [0] * rules.NUM_CELLS
    for digit, plane in enumerate(number):
        for cell in _members(plane):
            values[cell] |= 1 << digit
    return values


def _place(cell: int) -> dict[str, int]:
    row, col = divmod(cell, rules.SIZE)
    return {"row": row, "col": col}

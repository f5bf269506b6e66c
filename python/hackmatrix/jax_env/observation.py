"""The observation (O1-O4): packed first, expanded to floats where it is consumed.

A packed observation is ``PACKED_SIZE`` uint32 words, a twentieth of the floats: the bit planes of what the player
can see, the player's numbers and the owned programs. Rollouts and replay store it packed; ``expand``
makes the floats in the order of the rules, and XLA can fuse it into their consumers.
"""

from itertools import groupby

import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.bitboard import HALF, Cells, Number
from hackmatrix.jax_env.state import BLANK_SNAPSHOT, Snapshot
from hackmatrix.jax_env.tables import EnemyType
from rlworldkit.jax.marks import mark

# The layout of a packed observation: for each half of the board the visible planes, then the player's numbers, then
# the owned programs. A flag of a cell is one plane; a number has one plane per binary digit, lowest first; which
# program a block holds is a number as well.
_DIGITS = {
    "enemyHP": len(BLANK_SNAPSHOT.enemy_hp),
    "points": len(BLANK_SNAPSHOT.points),
    "spawn": len(BLANK_SNAPSHOT.spawn_count),
    "transmissionTurns": tables.CELL_DIVISORS["transmissionTurns"].bit_length(),
    "credits": len(BLANK_SNAPSHOT.cell_credits),
    "energy": len(BLANK_SNAPSHOT.cell_energy),
    "content": len(BLANK_SNAPSHOT.content),
}


def _kind(feature: str) -> str:
    """The form in which a feature of a cell is packed: a flag, a number, or one of the programs of a block."""
    if feature.startswith("block:"):
        return "program"
    return "number" if feature in _DIGITS else "flag"


_FLAGS = tuple(feature for feature in rules.CELL_FEATURES if _kind(feature) == "flag")
_PLANE_NAMES = (*_FLAGS, *(f"{name} {digit}" for name, digits in _DIGITS.items() for digit in range(digits)))
_PLANE = {name: row for row, name in enumerate(_PLANE_NAMES)}
PACKED_SIZE = 2 * len(_PLANE_NAMES) + len(rules.PLAYER_FEATURES) + 1
"""Words (uint32) of a packed observation."""

_PLAYER_DIVISORS = tuple(tables.PLAYER_DIVISORS.get(name, 1) for name in rules.PLAYER_FEATURES)


def _split_reciprocal(divisor: int) -> tuple[np.float32, np.float32]:
    """1/divisor as two floats, the first with so few bits that its product with a small integer is exact.

    ``value * first + value * second`` is then the float32 nearest to the exact quotient for every value that
    occurs, with or without fused multiply-add, where a division by a constant need not be.
    """
    mantissa = np.float32(1 / divisor).view(np.uint32) & np.uint32(0xFFFFF000)
    first = mantissa.view(np.float32)
    return first, np.float32(1 / divisor - float(first))


def _quotients(values: Array, divisors: tuple[int, ...]) -> Array:
    first, second = (np.array(part, np.float32) for part in zip(*map(_split_reciprocal, divisors), strict=True))
    floats = values.astype(jnp.float32)
    return floats * first + floats * second


def _visible_planes(now: Snapshot) -> dict[str, Cells]:
    """The planes of what can be seen (O3, O4), by name."""
    in_sight = bb.same_row(now.player) | bb.same_column(now.player)
    cryptogs = bb.equals(now.enemy_type, EnemyType.CRYPTOG)
    seen = now.enemies & (~cryptogs | in_sight | bb.ALL.where(now.show_activated))
    mark("O3.enemy", lambda: bb.is_any(seen & ~cryptogs))
    mark("O4.hiddenCryptog", lambda: bb.is_any(now.enemies & cryptogs & ~seen))
    mark("O4.shownCryptog", lambda: bb.is_any(seen & cryptogs))
    revealed = now.blocks & ~now.questions
    mark("O3.block", lambda: bb.is_any(revealed))
    mark("O4.question", lambda: bb.is_any(now.questions))
    bare = ~now.blocks | now.siphoned

    def resources() -> Cells:
        return bb.is_nonzero((*now.cell_credits, *now.cell_energy))

    mark("O3.resource", lambda: bb.overlaps(resources(), bare))
    mark("O4.coveredResource", lambda: bb.is_any(resources() & ~bare))
    mark("O4.uncoveredResource", lambda: bb.overlaps(resources(), now.blocks & now.siphoned))
    mark("O3.transmission", lambda: bb.is_any(now.transmissions))
    mark("O3.pickup", lambda: bb.is_any(now.pickups))
    mark("O3.siphonCentre", lambda: bb.is_any(now.siphon_centers))
    flags = {
        **{name: seen & bb.equals(now.enemy_type, number) for number, name in enumerate(rules.ENEMIES)},
        "stunned": seen & now.stunned,
        "fromSiphon": seen & now.from_siphon,
        "data": revealed & ~now.program_blocks,
        "program": revealed & now.program_blocks,
        "question": now.questions,
        "siphoned": now.blocks & now.siphoned,
        "pickup": now.pickups,
        "exit": bb.single(now.exit),
        "siphonCentre": now.siphon_centers,
    }
    many = bb.is_nonzero(now.timer[2:])  # 4 or more turns have the quotient 1, so all are stored as 4
    numbers = {
        "enemyHP": _within(now.enemy_hp, seen),
        "points": _within(now.points, revealed),
        "spawn": _within(now.spawn_count, revealed),
        "transmissionTurns": _within((now.timer[0] & ~many, now.timer[1] & ~many, many), now.transmissions),
        "credits": _within(now.cell_credits, bare),
        "energy": _within(now.cell_energy, bare),
        "content": _within(now.content, revealed),
    }
    digits = {f"{name} {digit}": plane for name, planes in numbers.items() for digit, plane in enumerate(planes)}
    return flags | digits


def _within(number: Number, cells: Cells) -> Number:
    return tuple(plane & cells for plane in number)


def _player_numbers(now: Snapshot) -> list[Array]:
    """The numbers of O1 before their division, capped where the quotient would pass 1 (int32)."""
    most = tables.PLAYER_DIVISORS
    mark("O1.capped", lambda: now.credits > most["credits"])
    mark("O1.capped", lambda: now.energy > most["energy"])
    mark("O1.capped", lambda: now.data_siphons > most["dataSiphons"])
    by_name = {
        "row": bb.row_of(now.player),
        "col": bb.column_of(now.player),
        "hp": now.hp,
        "credits": jnp.minimum(now.credits, most["credits"]),
        "energy": jnp.minimum(now.energy, most["energy"]),
        "stage": jnp.minimum(now.stage - 1, most["stage"]),
        "dataSiphons": jnp.minimum(now.data_siphons, most["dataSiphons"]),
        "attack": now.attack_damage - 1,
        "showActivated": now.show_activated.astype(jnp.int32),
        "scheduledTasksDisabled": now.scheduled_tasks_disabled.astype(jnp.int32),
    }
    return [by_name[name] for name in rules.PLAYER_FEATURES]


def pack(now: Snapshot) -> list[Array]:
    """The words of the packed observation, each uint32 of the batch shape."""
    planes = _visible_planes(now)
    low, high = zip(*(bb.to_pair(planes[name]) for name in _PLANE_NAMES), strict=True)
    mark("O2", lambda: now.owned_programs != 0)
    return [*low, *high, *(number.astype(jnp.uint32) for number in _player_numbers(now)), now.owned_programs]


def expand(compact: Array) -> Array:
    """The observation, float32 ``(*batch, 1545)``, from its packed words, uint32 ``(*batch, PACKED_SIZE)``."""
    batch = compact.shape[:-1]
    num_planes = len(_PLANE_NAMES)
    planes = compact[..., : 2 * num_planes].reshape((*batch, 2, num_planes))
    player = _quotients(compact[..., 2 * num_planes : -1].astype(jnp.int32), _PLAYER_DIVISORS)
    owned = (compact[..., -1:] >> np.arange(rules.NUM_PROGRAMS, dtype=np.uint32)) & 1
    # (*batch, 2, cells of a half, planes): the halves of the board hold rows 0-2 and 3-5, so this is row-major order
    bits = ((planes[..., None, :] >> np.arange(HALF, dtype=np.uint32)[:, None]) & 1).astype(jnp.int32)
    grid = _cell_features(bits).reshape((*batch, -1))
    return jnp.concatenate([player, owned.astype(jnp.float32), grid], axis=-1)


def player_cell(compact: Array) -> Array:
    """The index of the player's cell, int32 ``(*batch,)``, of packed words, uint32 ``(*batch, PACKED_SIZE)``."""
    row, column = (2 * len(_PLANE_NAMES) + rules.PLAYER_FEATURES.index(name) for name in ("row", "col"))
    return (compact[..., row] * rules.SIZE + compact[..., column]).astype(jnp.int32)


def _cell_features(bits: Array) -> Array:
    """The features of O3 (float32, last axis) from the planes' bits (int32, last axis)."""

    def number(name: str) -> Array:
        first = _PLANE[f"{name} 0"]
        return sum((bits[..., first + i, None] << i for i in range(_DIGITS[name])), start=jnp.int32(0))

    features = []
    for kind, group in groupby(rules.CELL_FEATURES, _kind):
        names = list(group)
        if kind == "flag":
            first = _PLANE[names[0]]  # flags lie side by side in the order of the features
            features.append(bits[..., first : first + len(names)].astype(jnp.float32))
        elif kind == "program":
            holds_program = bits[..., _PLANE["program"], None] == 1
            held = holds_program & (number("content") == np.arange(rules.NUM_PROGRAMS))
            features.append(held.astype(jnp.float32))
        else:
            features += [_quotients(number(name), (tables.CELL_DIVISORS[name],)) for name in names]
    return jnp.concatenate(features, axis=-1)

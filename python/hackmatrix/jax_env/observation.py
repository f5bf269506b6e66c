"""The observation (O1-O4): packed first, expanded to 1545 floats where it is consumed.

A packed observation is 74 uint32 words (296 bytes instead of 6,180): the bit planes of what the player
can see, the player's numbers and the owned programs. Rollouts and replay keep it packed; ``expand``
makes the floats of the rules' order, and XLA can fuse it into what reads them.
"""

import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.bitboard import Cells
from hackmatrix.jax_env.marks import note
from hackmatrix.jax_env.state import Snapshot

# How a packed observation is laid out: for each half of the board the visible planes, then the player's
# numbers, then the owned programs. Numbers have one plane per binary digit, lowest first.
_PLANE_NAMES = (
    *(f"enemy {enemy.name}" for enemy in tables.ENEMIES),
    "stunned", "from_siphon", "data", "program", "question", "siphoned", "pickup", "exit", "centre",
    *(f"hp {i}" for i in range(2)), *(f"points {i}" for i in range(4)), *(f"spawn {i}" for i in range(4)),
    *(f"turns {i}" for i in range(3)), *(f"credits {i}" for i in range(2)), *(f"energy {i}" for i in range(2)),
    *(f"content {i}" for i in range(5)),
)  # fmt: skip
_PLANE = {name: row for row, name in enumerate(_PLANE_NAMES)}
_PLAYER_WORDS = len(tables.PLAYER_FEATURES)
PACKED_SIZE = 2 * len(_PLANE_NAMES) + _PLAYER_WORDS + 1
"""Words (uint32) of a packed observation."""

_PLAYER_DIVISORS = tuple(feature.divisor for feature in tables.PLAYER_FEATURES)
_CELL_DIVISOR = {feature.name: (feature.divisor,) for feature in tables.CELL_FEATURES}


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


def visible_planes(now: Snapshot) -> dict[str, Cells]:
    """The planes of what can be seen (O3, O4), by name."""
    in_sight = bb.same_row(now.player) | bb.same_column(now.player)
    cryptogs = bb.equals(now.kind, tables.CRYPTOG)
    seen = now.enemies & (~cryptogs | in_sight | bb.ALL.where(now.show))
    revealed = now.blocks & ~now.questions
    resources_shown = ~now.blocks | now.siphoned
    many = bb.EMPTY  # transmissions with 4 turns or more: their quotient is capped at 1
    for digit in now.timer[2:]:
        many = many | digit
    coming = now.transmissions
    numbers = {
        "hp": [plane & seen for plane in now.enemy_hp],
        "points": [plane & revealed for plane in now.points],
        "spawn": [plane & revealed for plane in now.spawn],
        "turns": [now.timer[0] & coming & ~many, now.timer[1] & coming & ~many, many & coming],
        "credits": [plane & resources_shown for plane in now.cell_credits],
        "energy": [plane & resources_shown for plane in now.cell_energy],
        "content": [plane & revealed for plane in now.content],
    }
    return {
        **{f"enemy {enemy.name}": seen & bb.equals(now.kind, kind) for kind, enemy in enumerate(tables.ENEMIES)},
        "stunned": seen & now.stunned,
        "from_siphon": seen & now.from_siphon,
        "data": revealed & ~now.program_blocks,
        "program": revealed & now.program_blocks,
        "question": now.questions,
        "siphoned": now.blocks & now.siphoned,
        "pickup": now.pickups,
        "exit": bb.single(now.exit),
        "centre": now.centres,
        **{f"{name} {digit}": plane for name, planes in numbers.items() for digit, plane in enumerate(planes)},
    }


def player_numbers(now: Snapshot) -> list[Array]:
    """The ten numbers of O1 before their division, capped where the quotient would pass 1 (int32)."""
    return [
        bb.row_of(now.player),
        bb.column_of(now.player),
        now.hp,
        jnp.minimum(now.credits, 50),
        jnp.minimum(now.energy, 50),
        jnp.minimum(now.stage - 1, 7),
        jnp.minimum(now.siphons, 10),
        now.attack - 1,
        now.show.astype(jnp.int32),
        now.calm.astype(jnp.int32),
    ]


def pack(now: Snapshot) -> list[Array]:
    """The words of the packed observation, each uint32 of the batch shape."""
    planes = visible_planes(now)
    note(lambda: _conditions(now, planes))
    halves = [planes[name].low for name in _PLANE_NAMES] + [planes[name].high for name in _PLANE_NAMES]
    return [*halves, *(number.astype(jnp.uint32) for number in player_numbers(now)), now.programs]


def _conditions(now: Snapshot, planes: dict[str, Cells]) -> dict[str, Array]:
    """Which O rules the observation meets."""
    cryptogs = now.enemies & bb.equals(now.kind, tables.CRYPTOG)
    seen_cryptogs = planes["enemy cryptog"]
    others = [planes[f"enemy {enemy.name}"] for kind, enemy in enumerate(tables.ENEMIES) if kind != tables.CRYPTOG]
    resources = bb.is_nonzero((*now.cell_credits, *now.cell_energy))
    covered = now.blocks & ~now.siphoned
    return {
        "O1.capped": (now.credits > 50) | (now.energy > 50) | (now.siphons > 10),
        "O2": now.programs != 0,
        "O3.enemy": bb.is_any(others[0] | others[1] | others[2]),
        "O3.transmission": bb.is_any(now.transmissions),
        "O3.block": bb.is_any(planes["data"] | planes["program"]),
        "O3.resource": bb.is_any(resources & ~covered),
        "O3.pickup": bb.is_any(planes["pickup"]),
        "O3.siphonCentre": bb.is_any(planes["centre"]),
        "O4.hiddenCryptog": bb.is_any(cryptogs & ~seen_cryptogs),
        "O4.shownCryptog": bb.is_any(seen_cryptogs),
        "O4.question": bb.is_any(planes["question"]),
        "O4.coveredResource": bb.overlaps(resources, covered),
        "O4.uncoveredResource": bb.overlaps(resources, now.blocks & now.siphoned),
    }


def expand(packed: Array) -> Array:
    """The observation, float32 ``(*batch, 1545)``, from its packed words, uint32 ``(*batch, 74)``."""
    batch = packed.shape[:-1]
    num_planes = len(_PLANE_NAMES)
    planes = packed[..., : 2 * num_planes].reshape((*batch, 2, num_planes))
    player = _quotients(packed[..., 2 * num_planes : -1].astype(jnp.int32), _PLAYER_DIVISORS)
    owned = (packed[..., -1:] >> np.arange(tables.NUM_PROGRAMS, dtype=np.uint32)) & 1
    # (*batch, 2, 18, planes): the two halves of the board hold rows 0-2 and 3-5, so this is row-major order
    bits = ((planes[..., None, :] >> np.arange(bb.HALF, dtype=np.uint32)[:, None]) & 1).astype(jnp.int32)
    grid = _cell_features(bits).reshape((*batch, -1))
    return jnp.concatenate([player, owned.astype(jnp.float32), grid], axis=-1)


def _cell_features(bits: Array) -> Array:
    """The 42 features of O3 (float32, last axis) from the planes' bits (int32, last axis)."""

    def flags(*names: str) -> Array:
        columns = [_PLANE[name] for name in names]
        return bits[..., columns[0] : columns[-1] + 1].astype(jnp.float32)  # they stand side by side

    def number(name: str, digits: int) -> Array:
        first = _PLANE[f"{name} 0"]
        return sum((bits[..., first + i, None] << i for i in range(digits)), start=jnp.int32(0))

    holds_program = bits[..., _PLANE["program"], None] == 1
    program = holds_program & (number("content", 5) == np.arange(tables.NUM_PROGRAMS))
    features = [
        flags("enemy virus", "enemy cryptog"),
        _quotients(number("hp", 2), _CELL_DIVISOR["enemyHP"]),
        flags("stunned", "from_siphon", "data", "program", "question"),
        _quotients(number("points", 4), _CELL_DIVISOR["points"]),
        flags("siphoned"),
        program.astype(jnp.float32),
        _quotients(number("spawn", 4), _CELL_DIVISOR["spawn"]),
        _quotients(number("turns", 3), _CELL_DIVISOR["transmissionTurns"]),
        _quotients(number("credits", 2), _CELL_DIVISOR["credits"]),
        _quotients(number("energy", 2), _CELL_DIVISOR["energy"]),
        flags("pickup", "exit", "centre"),
    ]
    return jnp.concatenate(features, axis=-1)

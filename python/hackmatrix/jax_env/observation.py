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
_PLAYER_WORDS = tables.PLAYER_FEATURES
PACKED_SIZE = 2 * len(_PLANE_NAMES) + _PLAYER_WORDS + 1
"""Words (uint32) of a packed observation."""

# O3: the 42 features of a cell, each as its binary digits among the planes, and its divisor
_FEATURES: tuple[tuple[tuple[str, ...], int], ...] = (
    *(((f"enemy {enemy.name}",), 1) for enemy in tables.ENEMIES),
    (("hp 0", "hp 1"), 3),
    (("stunned",), 1),
    (("from_siphon",), 1),
    (("data",), 1),
    (("program",), 1),
    (("question",), 1),
    (("points 0", "points 1", "points 2", "points 3"), 9),
    (("siphoned",), 1),
    *((((), 1),) * tables.NUM_PROGRAMS),  # one-hot of the content planes, made in `expand`
    (("spawn 0", "spawn 1", "spawn 2", "spawn 3"), 9),
    (("turns 0", "turns 1", "turns 2"), 4),
    (("credits 0", "credits 1"), 3),
    (("energy 0", "energy 1"), 3),
    (("pickup",), 1),
    (("exit",), 1),
    (("centre",), 1),
)
_FIRST_PROGRAM_FEATURE = 12
_PLAYER_DIVISORS = (5, 5, 3, 50, 50, 7, 10, 2, 1, 1)


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
    halves = [planes[name].low for name in _PLANE_NAMES] + [planes[name].high for name in _PLANE_NAMES]
    return [*halves, *(number.astype(jnp.uint32) for number in player_numbers(now)), now.programs]


def expand(packed: Array) -> Array:
    """The observation, float32 ``(*batch, 1545)``, from its packed words, uint32 ``(*batch, 74)``."""
    batch = packed.shape[:-1]
    num_planes = len(_PLANE_NAMES)
    planes = packed[..., : 2 * num_planes].reshape((*batch, 2, num_planes))
    player = _quotients(packed[..., 2 * num_planes : -1].astype(jnp.int32), _PLAYER_DIVISORS)
    owned = (packed[..., -1:] >> np.arange(tables.NUM_PROGRAMS, dtype=np.uint32)) & 1

    cells = np.arange(bb.HALF, dtype=np.uint32)[:, None]
    grid = jnp.zeros((*batch, 2, bb.HALF, tables.CELL_FEATURES), jnp.uint32)
    for digit in range(4):
        words = _digit_words(planes, digit)
        grid = grid | (((words[..., None, :] >> cells) & 1) << digit)
    floats = _quotients(grid.astype(jnp.int32), tuple(divisor for _, divisor in _FEATURES))
    return jnp.concatenate([player, owned.astype(jnp.float32), floats.reshape((*batch, -1))], axis=-1)


def _digit_words(planes: Array, digit: int) -> Array:
    """For each feature the plane of its ``digit``-th binary digit: uint32 ``(*batch, 2, 42)``, 0 where it has none."""
    nothing = jnp.zeros_like(planes[..., :1])
    words = [planes[..., _PLANE[names[digit]], None] if digit < len(names) else nothing for names, _ in _FEATURES]
    if digit == 0:
        words[_FIRST_PROGRAM_FEATURE : _FIRST_PROGRAM_FEATURE + tables.NUM_PROGRAMS] = [_one_hot_programs(planes)]
    return jnp.concatenate(words, axis=-1)


def _one_hot_programs(planes: Array) -> Array:
    """Planes of the 23 programs from the five content planes: uint32 ``(*batch, 2, 23)``."""
    codes = np.arange(tables.NUM_PROGRAMS, dtype=np.uint32)
    cells = jnp.broadcast_to(planes[..., _PLANE["program"], None], (*planes.shape[:-1], tables.NUM_PROGRAMS))
    for digit in range(5):
        plane = planes[..., _PLANE[f"content {digit}"], None]
        # all ones where the code lacks the digit, so that the plane is inverted there
        cells = cells & (plane ^ np.where(codes >> digit & 1, 0, 0xFFFFFFFF).astype(np.uint32))
    return cells

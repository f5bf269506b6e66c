"""Enemies and transmissions (A5, A6) as planes: removing, hitting and moving them (V2, V4)."""

from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.state import BLANK_SNAPSHOT, Snapshot
from worldkit.jax.marks import mark

Tree = TypeVar("Tree")

OWN_INDEX: Number = tuple(
    bb.constant(cell for cell in range(rules.NUM_CELLS) if cell >> digit & 1)
    for digit in range(len(BLANK_SNAPSHOT.last_known))
)
"""For every cell its own index: the last known cell of a cryptog that is seen where it stands."""

ENEMY_FIELDS = ("enemies", "enemy_type", "enemy_hp", "stunned", "from_siphon", "from_schedule", "timer", "last_known")
"""The fields of a snapshot that an enemy takes along (A5)."""


class AttackEffects(NamedTuple):
    """Effects of an action on enemies and transmissions."""

    removed: Cells
    """Those that vanish at once."""
    hit: Cells
    """Those that lose ``damage`` hp; survivors are stunned."""
    damage: Array


def of_type(now: Snapshot, enemy_type: int) -> Cells:
    """The cells of the enemies of one type."""
    return now.enemies & bb.equals(now.enemy_type, enemy_type)


def remove(now: Snapshot, cells: Cells) -> Snapshot:
    """The snapshot without the enemies and transmissions of the given cells."""
    keep = ~cells
    return now._replace(
        enemies=now.enemies & keep,
        transmissions=now.transmissions & keep,
        enemy_type=bb.clear(now.enemy_type, cells),
        enemy_hp=bb.clear(now.enemy_hp, cells),
        stunned=now.stunned & keep,
        from_siphon=now.from_siphon & keep,
        from_schedule=now.from_schedule & keep,
        timer=bb.clear(now.timer, cells),
        last_known=bb.clear(now.last_known, cells),
    )


def remove_and_count(now: Snapshot, cells: Cells) -> tuple[Snapshot, Array]:
    """As ``remove``, and the kills (int32): all removed but those with ``from_schedule`` (V4)."""
    gone = (now.enemies | now.transmissions) & cells
    kills = bb.count(gone & ~now.from_schedule)  # V4
    mark("V4.kill", lambda: kills > 0)
    mark("V4.scheduled", lambda: bb.is_any(gone & now.from_schedule))
    return remove(now, cells), kills


def strike(now: Snapshot, blow: AttackEffects, attacking: Array) -> tuple[Snapshot, Array]:
    """Carry out a strike; returns the kills as well (V2, V4). ``attacking`` (bool) tells where it is an attack."""
    hit = blow.hit & now.enemies
    dead = hit & (
        bb.equals(now.enemy_hp, 1)
        | bb.equals(now.enemy_hp, 2).where(blow.damage >= 2)
        | bb.equals(now.enemy_hp, 3).where(blow.damage >= 3)
    )
    survivors = hit & ~dead
    mark("V2.stunned", lambda: bb.is_any(survivors) & attacking)
    mark("V2.removed", lambda: bb.is_any(dead) & attacking)
    hp = bb.decrement(now.enemy_hp, survivors)
    hp = bb.decrement(hp, survivors.where(blow.damage >= 2))
    now = now._replace(enemy_hp=hp, stunned=now.stunned | survivors)
    return remove_and_count(now, blow.removed | dead)


def relocate(planes: Tree, origin: Cells, target: Cells) -> Tree:
    """Every plane of a pytree of planes with the bit of ``origin`` moved to ``target``.

    Both are one cell, or both empty; the planes are those that belong to an enemy.
    """
    return jax.tree.map(
        lambda plane: bb.relocate(plane, origin, target), planes, is_leaf=lambda node: isinstance(node, Cells)
    )


def rings(player: Cells) -> list[Cells]:
    """The cells at Manhattan distance 1, 2, 3, … from a cell, to the farthest on the board (A2)."""
    found = []
    ball = player
    for _ in range(2 * (rules.SIZE - 1)):
        larger = bb.cross(ball)
        found.append(larger & ~ball)
        ball = larger
    return found


def first_of(cells: Cells, by_distance: list[Cells]) -> Cells:
    """Of the cells in the first ring that holds any, the lowest (ties: row-major)."""
    chosen = bb.EMPTY
    for ring in reversed(by_distance):
        inside = cells & ring
        chosen = bb.select(bb.is_any(inside), inside, chosen)
    return bb.lowest(chosen)


def saturating(value: Array, largest: int) -> Array:
    """A counter kept in 0..largest (A7)."""
    return jnp.clip(value, 0, largest)

"""Enemies and transmissions (A5, A6) as planes: removing, hitting and moving them (V2, V4)."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.state import BLANK_SNAPSHOT, Snapshot
from hackmatrix.jax_env.tables import MAX_COUNTER
from rlworldkit.jax.marks import mark

OWN_INDEX: Number = tuple(
    bb.constant(cell for cell in range(rules.NUM_CELLS) if cell >> digit & 1)
    for digit in range(len(BLANK_SNAPSHOT.last_known))
)
"""For every cell its own index: the last known cell of a cryptog that is seen where it stands."""

ENEMY_FIELDS = ("enemies", "enemy_type", "enemy_hp", "stunned", "from_siphon", "from_schedule", "timer", "last_known")
"""The fields of a snapshot that move with an enemy (A5)."""


class AttackEffects(NamedTuple):
    """Effects of an action on enemies and transmissions."""

    removed: Cells
    """Cells of enemies and transmissions that vanish at once."""
    hit: Cells
    """Cells of enemies that lose ``damage`` hp; survivors are stunned."""
    damage: Array


def of_type(now: Snapshot, enemy_type: int) -> Cells:
    """The cells of the enemies of one type."""
    return now.enemies & bb.equals(now.enemy_type, enemy_type)


def remove(now: Snapshot, cells: Cells) -> tuple[Snapshot, Array]:
    """Remove enemies and transmissions; returns the kills (int32): all but those with ``from_schedule`` (V4)."""
    gone = (now.enemies | now.transmissions) & cells
    kills = bb.count(gone & ~now.from_schedule)  # V4
    mark("V4.kill", lambda: kills > 0)
    mark("V4.scheduled", lambda: bb.is_any(gone & now.from_schedule))
    planes = {name: getattr(now, name) for name in (*ENEMY_FIELDS, "transmissions")}
    return now._replace(**bb.clear(planes, cells)), kills


def strike(now: Snapshot, blow: AttackEffects, attacking: Array) -> tuple[Snapshot, Array]:
    """Apply the effects of an action; returns the kills too (V2, V4). ``attacking`` (bool): the action is an attack."""
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
    return remove(now, blow.removed | dead)


def rings(player: Cells) -> list[Cells]:
    """The cells at Manhattan distance 1, 2, 3, … from a cell, to the farthest on the board (A2)."""
    found = []
    ball = player
    for _ in range(2 * (rules.SIZE - 1)):
        larger = bb.cross(ball)
        found.append(larger & ~ball)
        ball = larger
    return found


def in_first_ring(cells: Cells, by_distance: list[Cells]) -> Cells:
    """The cells in the first ring that holds any."""
    chosen = bb.EMPTY
    for ring in reversed(by_distance):
        inside = cells & ring
        chosen = bb.select(bb.is_any(inside), inside, chosen)
    return chosen


def saturating(value: Array) -> Array:
    """Cap a counter, which is not negative, at ``MAX_COUNTER`` (A7)."""
    mark("A7.saturated", lambda: value > MAX_COUNTER)
    return jnp.minimum(value, MAX_COUNTER)

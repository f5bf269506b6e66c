"""Moving and attacking (V1-V3)."""

from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.beings import AttackEffects, of_type
from hackmatrix.jax_env.bitboard import Cells
from hackmatrix.jax_env.state import Snapshot
from hackmatrix.jax_env.tables import EnemyType
from rlworldkit.jax.marks import mark


def move(now: Snapshot, action: Array) -> tuple[AttackEffects, Cells]:
    """Look along the direction of a move (V1); attack what is seen (V2) or move one cell (V3).

    The second result is the cell moved to, empty for an attack and where ``action`` (int32) is no direction.
    """
    player = bb.single(now.player)
    targets = now.enemies | now.transmissions
    seen, ahead, stopping = bb.EMPTY, bb.EMPTY, bb.EMPTY
    for direction, step in enumerate(bb.DIRECTIONS):  # V1
        front = step(player).where(action == direction)
        ahead = ahead | front
        for _ in range(rules.SIZE - 1):
            seen = seen | (front & targets)
            stopping = stopping | (front & now.blocks & ~targets)
            front = step(front & ~(targets | now.blocks))
    mark("V1.adjacent", lambda: bb.overlaps(seen, ahead))
    mark("V1.distant", lambda: bb.is_any(seen & ~ahead))
    mark("V1.blockStops", lambda: bb.is_any(stopping))
    mark("V1.cryptog", lambda: bb.overlaps(seen, of_type(now, EnemyType.CRYPTOG)))
    blow = AttackEffects(removed=seen & now.transmissions, hit=seen & now.enemies, damage=now.attack_damage)  # V2
    mark("V2.transmission", lambda: bb.is_any(blow.removed))
    target = ahead.where(~bb.is_any(seen))  # V3
    mark("V3.moved", lambda: bb.is_any(target))
    mark("V3.pickup", lambda: bb.overlaps(target, now.pickups))
    return blow, target

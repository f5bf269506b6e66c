"""Moving and attacking (V1-V3)."""

from typing import NamedTuple

from jax import Array

from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.beings import Strike, of_kind
from hackmatrix.jax_env.bitboard import Cells
from hackmatrix.jax_env.marks import note
from hackmatrix.jax_env.state import Snapshot


class Move(NamedTuple):
    """What a direction comes to: a strike, or a step to ``target`` when nothing is in sight."""

    blow: Strike
    target: Cells
    """The cell the player moves to (empty when it attacks, or when the action is no direction)."""


def move(now: Snapshot, action: Array) -> Move:
    """Look along the direction of actions 0-3 (V1); attack what is seen (V2) or move one cell (V3)."""
    player = bb.single(now.player)
    targets = now.enemies | now.transmissions
    seen, ahead, stopping = bb.EMPTY, bb.EMPTY, bb.EMPTY
    for direction, step in enumerate(bb.DIRECTIONS):
        front = step(player).where(action == direction)
        ahead = ahead | front
        for _ in range(5):
            seen = seen | (front & targets)
            stopping = stopping | (front & now.blocks & ~targets)
            front = step(front & ~(targets | now.blocks))
    note(
        lambda: {
            "V1.adjacent": bb.overlaps(seen, ahead),
            "V1.distant": bb.is_any(seen & ~ahead),
            "V1.blockStops": bb.is_any(stopping),
            "V1.cryptog": bb.overlaps(seen, of_kind(now, tables.CRYPTOG)),
            "V2.transmission": bb.overlaps(seen, now.transmissions),
            "V3.moved": bb.is_any(ahead) & ~bb.is_any(seen),
            "V3.pickup": bb.overlaps(ahead.where(~bb.is_any(seen)), now.pickups),
        }
    )
    blow = Strike(removed=seen & now.transmissions, hit=seen & now.enemies, damage=now.attack)
    return Move(blow, ahead.where(~bb.is_any(seen)))

"""Moving and attacking (V1-V3)."""

from typing import NamedTuple

from jax import Array

from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.beings import Strike
from hackmatrix.jax_env.bitboard import Cells
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
    seen, ahead = bb.EMPTY, bb.EMPTY
    for direction, step in enumerate(bb.DIRECTIONS):
        front = step(player).where(action == direction)
        ahead = ahead | front
        for _ in range(5):
            seen = seen | (front & targets)
            front = step(front & ~(targets | now.blocks))
    blow = Strike(removed=seen & now.transmissions, hit=seen & now.enemies, damage=now.attack)
    return Move(blow, ahead.where(~bb.is_any(seen)))

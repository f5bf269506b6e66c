"""Valid actions (M1-M3, C4)."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.programs import applicable_programs
from hackmatrix.jax_env.state import Snapshot, State
from rlworldkit.jax.marks import mark

_NONE = np.int32(-1)
"""Stands for no action, so that no mark is counted."""


def is_over(state: State) -> Array:
    """Return whether the game has ended: hp 0 or victory (C4)."""
    return (state.now.hp <= 0) | (state.now.stage >= rules.WON_STAGE)


def valid_actions(state: State, asked: Array | np.int32 = _NONE) -> list[Array]:
    """The entries of the mask, each bool of the batch shape.

    The rule that decides on the action ``asked`` (int32) is marked; in a game that is over it is C4, which has no
    mark of its own.
    """
    alive = ~is_over(state)
    now = state.now
    entries = [*_moves(now, asked, alive), _siphon(now, asked, alive), *_programs(state, asked, alive)]
    return [alive & entry for entry in entries]


def _moves(now: Snapshot, asked: Array | np.int32, alive: Array) -> list[Array]:
    """M1: the neighbour is on the board and has no block, or has an enemy on it."""
    player = bb.single(now.player)
    neighbours = [move(player) for move in bb.DIRECTIONS]
    enterable = ~now.blocks | now.enemies

    def leads_to(cells: bb.Cells) -> Array:
        return alive & _entry([bb.overlaps(neighbour, cells) for neighbour in neighbours], asked)

    mark("M1.edge", lambda: alive & (asked >= 0) & (asked < rules.SIPHON) & ~leads_to(bb.ALL))
    mark("M1.open", lambda: leads_to(~now.blocks))
    mark("M1.enemyOnBlock", lambda: leads_to(now.blocks & now.enemies))
    mark("M1.block", lambda: leads_to(now.blocks & ~now.enemies))
    return [bb.overlaps(neighbour, enterable) for neighbour in neighbours]


def _siphon(now: Snapshot, asked: Array | np.int32, alive: Array) -> Array:
    """M2: a data siphon is held."""
    held = now.data_siphons > 0
    mark("M2.held", lambda: alive & (asked == rules.SIPHON) & held)
    mark("M2.none", lambda: alive & (asked == rules.SIPHON) & ~held)
    return held


def _programs(state: State, asked: Array | np.int32, alive: Array) -> list[Array]:
    """M3: owned, credits and energy at least the cost, and applicable."""
    now = state.now
    owned = [(now.owned_programs >> jnp.uint32(row)) & 1 == 1 for row in range(rules.NUM_PROGRAMS)]
    paid = [(now.credits >= program.credits) & (now.energy >= program.energy) for program in tables.PROGRAMS]
    able = [own & pays for own, pays in zip(owned, paid, strict=True)]
    valid = [can & fits for can, fits in zip(able, applicable_programs(state), strict=True)]

    def of_asked(flags: list[Array]) -> Array:
        return alive & _entry(flags, asked - rules.FIRST_PROGRAM)

    mark("M3.notOwned", lambda: of_asked([~own for own in owned]))
    mark("M3.tooDear", lambda: of_asked(owned) & ~of_asked(able))
    mark("M3.notApplicable", lambda: of_asked(able) & ~of_asked(valid))
    mark("M3.applicable", lambda: of_asked(valid))
    return valid


def is_valid(state: State, action: Array) -> Array:
    """Return whether one action (int32) is valid; anything outside the action space is not (C1)."""
    return _entry(valid_actions(state, action), action)


def _entry(flags: list[Array], index: Array | np.int32) -> Array:
    """The flag at an index; false for an index outside the list."""
    found = jnp.zeros(index.shape, bool)
    for number, flag in enumerate(flags):
        found = found | (flag & (index == number))
    return found

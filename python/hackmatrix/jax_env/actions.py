"""Valid actions (M1-M3, C4)."""

import jax.numpy as jnp
from jax import Array

from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.beings import of_kind
from hackmatrix.jax_env.marks import note
from hackmatrix.jax_env.state import State


def is_over(state: State) -> Array:
    """Whether the game has ended: hp 0 or victory (C4)."""
    return (state.now.hp <= 0) | (state.now.stage >= tables.WON_STAGE)


def applicable_programs(state: State) -> list[Array]:
    """For each of the 23 programs whether the column "applicable when" of table P holds."""
    now = state.now
    player = bb.single(now.player)
    beings = now.enemies | now.transmissions
    has_enemy = bb.is_any(now.enemies)
    always = jnp.ones_like(has_enemy)
    conditions = {
        tables.PUSH: has_enemy,
        tables.PULL: has_enemy,
        tables.CRASH: bb.overlaps(bb.eight_neighbours(player), now.blocks | beings),
        tables.WARP: bb.is_any(beings),
        tables.POLY: has_enemy,
        tables.WAIT: always,
        tables.DEBUG: bb.overlaps(now.enemies, now.blocks),
        tables.ROW: bb.overlaps(now.enemies, bb.same_row(now.player)),
        tables.COL: bb.overlaps(now.enemies, bb.same_column(now.player)),
        tables.UNDO: state.has_history,
        tables.STEP: always,
        tables.SIPH_PLUS: always,
        tables.EXCH: now.credits >= 4,
        tables.SHOW: ~now.show,
        tables.RESET: now.hp < tables.MAX_HP,
        tables.CALM: ~now.calm,
        tables.D_BOM: bb.is_any(of_kind(now, tables.DAEMON)),
        tables.DELAY: bb.is_any(now.transmissions),
        tables.ANTI_V: bb.is_any(of_kind(now, tables.VIRUS)),
        tables.SCORE: now.stage < tables.NUM_STAGES,
        tables.REDUC: bb.overlaps(now.blocks & ~now.siphoned, bb.is_nonzero(now.spawn)),
        tables.ATK_PLUS: (now.attack_boosts < 2) & (now.attack < tables.MAX_ATTACK),
        tables.HACK: bb.is_any(now.siphoned),
    }
    return [conditions[action] for action in range(tables.FIRST_PROGRAM_ACTION, tables.NUM_ACTIONS)]


def valid_actions(state: State) -> list[Array]:
    """The 28 entries of the mask, each bool of the batch shape."""
    now = state.now
    player = bb.single(now.player)
    enterable = ~now.blocks | now.enemies
    moves = [bb.overlaps(move(player), enterable) for move in bb.DIRECTIONS]
    programs = [
        applies
        & ((now.programs >> jnp.uint32(row)) & 1 == 1)
        & (now.credits >= program.credits)
        & (now.energy >= program.energy)
        for row, (program, applies) in enumerate(zip(tables.PROGRAMS, applicable_programs(state), strict=True))
    ]
    alive = ~is_over(state)
    return [alive & entry for entry in [*moves, now.siphons > 0, *programs]]


def note_decision(state: State, action: Array) -> None:
    """Note which entry of M1-M3 decides on an action; nothing when the game is over, for then C4 does."""

    def conditions() -> dict[str, Array]:
        now = state.now
        decided = ~is_over(state)
        ahead = bb.EMPTY
        for direction, move in enumerate(bb.DIRECTIONS):
            ahead = ahead | move(bb.single(now.player)).where(action == direction)
        moves = decided & (action < tables.SIPHON_ACTION)
        siphons = decided & (action == tables.SIPHON_ACTION)
        runs = decided & (action > tables.SIPHON_ACTION)
        row = jnp.clip(action - tables.FIRST_PROGRAM_ACTION, 0, tables.NUM_PROGRAMS - 1)
        owned = (now.programs >> row.astype(jnp.uint32)) & 1 == 1
        index = row + tables.FIRST_PROGRAM_ACTION
        paid = now.credits >= jnp.asarray(tables.CREDIT_COST)[index]
        paid = paid & (now.energy >= jnp.asarray(tables.ENERGY_COST)[index])
        applies = jnp.zeros_like(owned)
        for program, applicable in enumerate(applicable_programs(state)):
            applies = applies | (applicable & (row == program))
        return {
            "M1.edge": moves & ~bb.is_any(ahead),
            "M1.open": moves & bb.overlaps(ahead, ~now.blocks),
            "M1.enemyOnBlock": moves & bb.overlaps(ahead, now.blocks & now.enemies),
            "M1.block": moves & bb.overlaps(ahead, now.blocks & ~now.enemies),
            "M2.held": siphons & (now.siphons > 0),
            "M2.none": siphons & (now.siphons == 0),
            "M3.notOwned": runs & ~owned,
            "M3.tooDear": runs & owned & ~paid,
            "M3.applicable": runs & owned & paid & applies,
            "M3.notApplicable": runs & owned & paid & ~applies,
        }

    note(conditions)


def is_valid(state: State, action: Array) -> Array:
    """Whether one action (int32) is valid; anything outside 0..27 is not (C1)."""
    valid = jnp.zeros(action.shape, bool)
    for index, entry in enumerate(valid_actions(state)):
        valid = valid | (entry & (action == index))
    return valid

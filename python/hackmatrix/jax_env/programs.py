"""The 23 programs (table P, P-PUSH, P-PULL) as masked updates of few planes.

Every effect is written for all games at once and switched on by the action of each game: no branch
copies whole states. UNDO, which brings back a whole record, stands in ``env.py`` beside the recording.
"""

from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from hackmatrix.jax_env import beings, tables
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.batching import computed_once
from hackmatrix.jax_env.beings import Strike, of_kind, saturating
from hackmatrix.jax_env.bitboard import Cells
from hackmatrix.jax_env.random import Site, below, cell_words, pick
from hackmatrix.jax_env.state import Seed, Snapshot


def pay(now: Snapshot, action: Array, valid: Array) -> Snapshot:
    """Take the cost of the action (table P) from credits and energy, not below 0."""
    index = jnp.clip(action, 0, tables.NUM_ACTIONS - 1)
    credits = jnp.where(valid, jnp.asarray(tables.CREDIT_COST)[index], 0)
    energy = jnp.where(valid, jnp.asarray(tables.ENERGY_COST)[index], 0)
    return now._replace(credits=jnp.maximum(now.credits - credits, 0), energy=jnp.maximum(now.energy - energy, 0))


def blow_of(now: Snapshot, program: Array, warp_target: Cells) -> Strike:
    """What the striking programs hit and remove: CRASH, WARP, DEBUG, ROW, COL, D_BOM, ANTI-V, HACK.

    ``program`` is the action (int32), or -1 where no program runs.
    """
    player = bb.single(now.player)
    bombed = beings.first_of(of_kind(now, tables.DAEMON), beings.rings(player)).where(program == tables.D_BOM)
    with_attack = (
        (now.enemies & now.blocks).where(program == tables.DEBUG)
        | (now.enemies & bb.same_row(now.player)).where(program == tables.ROW)
        | (now.enemies & bb.same_column(now.player)).where(program == tables.COL)
        | (now.enemies & now.siphoned).where(program == tables.HACK)
    )
    with_one = (now.enemies & bb.eight_neighbours(bombed)) | of_kind(now, tables.VIRUS).where(program == tables.ANTI_V)
    return Strike(
        removed=bb.eight_neighbours(player).where(program == tables.CRASH) | warp_target | bombed,
        hit=with_attack | with_one,
        damage=jnp.where((program == tables.D_BOM) | (program == tables.ANTI_V), 1, now.attack),
    )


def warp_target(now: Snapshot, program: Array, seed: Seed, event: Array) -> Cells:
    """WARP: the cell of a uniform enemy or transmission (empty where the program is another)."""
    wanted = program == tables.WARP
    targets = (now.enemies | now.transmissions).where(wanted)

    def drawn() -> Cells:
        return pick(targets, cell_words(seed, event, Site.WARP))

    return lax.cond(jnp.any(wanted), drawn, lambda: targets)


def crash_blocks(now: Snapshot, program: Array) -> Snapshot:
    """CRASH: the blocks in the 8 neighbours are gone; resources and flags of their cells stay."""
    gone = bb.eight_neighbours(bb.single(now.player)).where(program == tables.CRASH)
    keep = ~gone
    return now._replace(
        blocks=now.blocks & keep,
        questions=now.questions & keep,
        program_blocks=now.program_blocks & keep,
        points=bb.clear(now.points, gone),
        content=bb.clear(now.content, gone),
        spawn=bb.clear(now.spawn, gone),
    )


def poly(now: Snapshot, program: Array, seed: Seed, event: Array) -> tuple[Snapshot, Array]:
    """POLY: every enemy becomes a uniform other type and keeps the damage it took; returns the kills."""
    wanted = program == tables.POLY

    def polymorphed() -> tuple[Snapshot, Array]:
        changed = now.enemies.where(wanted)
        choice = below(cell_words(seed, event, Site.POLY), 3)
        low, high = bb.pack(choice == 1), bb.pack(choice == 2)
        # entry `choice` of the types without the old one: one further when it is not below the old type
        was = [bb.equals(now.kind, kind) for kind in range(4)]
        skip = was[0] | (was[1] & (low | high)) | (was[2] & high)
        new_low, new_high = low ^ skip, high ^ (low & skip)
        kind = (
            (now.kind[0] & ~changed) | (new_low & changed),
            (now.kind[1] & ~changed) | (new_high & changed),
        )
        to_cryptog = changed & bb.equals(kind, tables.CRYPTOG)
        last_known = tuple(
            (plane & ~changed) | (own & to_cryptog) for plane, own in zip(now.last_known, beings.OWN_INDEX, strict=True)
        )
        # only the daemon's maximum differs, by 1: hp = new maximum - damage
        hp = bb.add_saturating(now.enemy_hp, changed & bb.equals(kind, tables.DAEMON), 1)
        hp = bb.decrement(hp, changed & was[tables.DAEMON])
        new = now._replace(kind=kind, enemy_hp=hp, last_known=last_known)
        return beings.remove_and_count(new, changed & ~bb.is_nonzero(hp))

    return lax.cond(jnp.any(wanted), polymorphed, lambda: (now, jnp.zeros_like(now.hp)))


def push_or_pull(now: Snapshot, program: Array) -> Snapshot:
    """P-PUSH and P-PULL: enemies move one cell from or toward the player, one after another."""
    pushes = program == tables.PUSH
    wanted = pushes | (program == tables.PULL)
    planes = {name: getattr(now, name) for name in beings.ENEMY_FIELDS}

    def body(state: tuple[Cells, dict[str, Any]]) -> tuple[Cells, dict[str, Any]]:
        left, planes = state
        others = planes["enemies"] | now.transmissions
        some_left = jnp.any(bb.is_any(left))
        enemy, target = computed_once(some_left, _next_moved, left, others, now.player, pushes)
        return left & ~enemy, beings.relocate(planes, enemy.where(bb.is_any(target)), target)

    start = (now.enemies.where(wanted), planes)
    _, planes = lax.while_loop(lambda state: jnp.any(bb.is_any(state[0])), body, start)
    return now._replace(**planes)


def _next_moved(left: Cells, others: Cells, player_cell: Array, pushes: Array) -> tuple[Cells, Cells]:
    """The next of the enemies ``left`` to be moved, and the cell it goes to (empty when it stays)."""
    player = bb.single(player_cell)
    outward = beings.rings(player)
    enemy = bb.select(pushes, beings.first_of(left, outward[::-1]), beings.first_of(left, outward))
    cell = bb.index_of(enemy)
    away = jnp.where(pushes, 1, -1)
    row_sign = jnp.sign(bb.row_of(cell) - bb.row_of(player_cell)) * away
    column_sign = jnp.sign(bb.column_of(cell) - bb.column_of(player_cell)) * away
    by_row = _shift_rows(enemy, row_sign)
    by_column = _shift_columns(enemy, column_sign)
    both = _shift_columns(by_row, column_sign)
    # of the candidates on the board, the player's cell aside, `both` lies farthest (nearest), and the others tie
    target = bb.EMPTY
    for candidate in (by_column.where(column_sign != 0), by_row.where(row_sign != 0), both):
        usable = candidate & ~player
        target = bb.select(bb.is_any(usable), usable, target)
    return enemy, target & ~others


def _shift_rows(cells: Cells, sign: Array) -> Cells:
    return bb.select(sign > 0, bb.up(cells), bb.select(sign < 0, bb.down(cells), cells))


def _shift_columns(cells: Cells, sign: Array) -> Cells:
    return bb.select(sign > 0, bb.right(cells), bb.select(sign < 0, bb.left(cells), cells))


def change_cells(now: Snapshot, program: Array) -> Snapshot:
    """DELAY and REDUC: numbers on many cells."""
    delayed = now.transmissions.where(program == tables.DELAY)
    reduced = (now.blocks & ~now.siphoned).where(program == tables.REDUC)
    return now._replace(
        timer=bb.add_saturating(now.timer, delayed, 3),
        spawn=bb.decrement(now.spawn, reduced),
    )


def change_scalars(now: Snapshot, program: Array) -> Snapshot:
    """STEP, SIPH+, EXCH, SHOW, RESET, CALM, SCORE and ATK+: the player's numbers and the flags."""
    gain = partial(_gain, program)
    return now._replace(
        step=now.step | (program == tables.STEP),
        siphons=gain(tables.SIPH_PLUS, now.siphons, 1),
        energy=gain(tables.EXCH, now.energy, 4),
        show=now.show | (program == tables.SHOW),
        hp=jnp.where(program == tables.RESET, tables.MAX_HP, now.hp),
        calm=now.calm | (program == tables.CALM),
        score=gain(tables.SCORE, now.score, tables.NUM_STAGES - now.stage),
        attack=gain(tables.ATK_PLUS, now.attack, 1),
        attack_boosts=gain(tables.ATK_PLUS, now.attack_boosts, 1),
    )


def _gain(program: Array, which: int, value: Array, amount: Array | int) -> Array:
    return jnp.where(program == which, saturating(value + amount, tables.MAX_COUNTER), value)

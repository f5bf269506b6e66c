"""The 23 programs (table P, P-PUSH, P-PULL) as masked updates of few planes.

Every effect is written for all games at once and switched on by the action of each game: no branch
copies whole states. UNDO, which brings back a whole record, stands in ``env.py`` beside the recording.
"""

from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import Array

from hackmatrix.jax_env import beings, tables
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.batching import computed_once, run_if, while_loop
from hackmatrix.jax_env.beings import Strike, of_kind, saturating
from hackmatrix.jax_env.bitboard import Cells
from hackmatrix.jax_env.marks import note
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


def note_programs(now: Snapshot, program: Array, warped: Cells) -> None:
    """Note what the programs find, their cost paid (all but UNDO, and what PUSH, PULL and POLY do to each enemy)."""

    def conditions() -> dict[str, Array]:
        player = bb.single(now.player)
        near = bb.eight_neighbours(player).where(program == tables.CRASH)
        by_distance = beings.rings(player)
        daemons = of_kind(now, tables.DAEMON).where(program == tables.D_BOM)
        bombed = beings.first_of(daemons, by_distance)
        as_near = bb.EMPTY
        for ring in by_distance:
            as_near = as_near | ring.where(bb.overlaps(ring, bombed))
        limit = tables.MAX_COUNTER
        nearly_full = bb.equals(now.timer, 253) | bb.equals(now.timer, 254) | bb.equals(now.timer, 255)
        saturated = (
            ((program == tables.SIPH_PLUS) & (now.siphons + 1 > limit))
            | ((program == tables.EXCH) & (now.energy + 4 > limit))
            | ((program == tables.SCORE) & (now.score + tables.NUM_STAGES - now.stage > limit))
            | ((program == tables.DELAY) & bb.overlaps(now.transmissions, nearly_full))
        )
        plain = {
            "P-WAIT": tables.WAIT, "P-DEBUG": tables.DEBUG, "P-ROW": tables.ROW, "P-COL": tables.COL,
            "P-STEP": tables.STEP, "P-SIPH+": tables.SIPH_PLUS, "P-EXCH": tables.EXCH, "P-SHOW": tables.SHOW,
            "P-RESET": tables.RESET, "P-CALM": tables.CALM, "P-D_BOM": tables.D_BOM, "P-DELAY": tables.DELAY,
            "P-ANTI-V": tables.ANTI_V, "P-SCORE": tables.SCORE, "P-REDUC": tables.REDUC, "P-ATK+": tables.ATK_PLUS,
            "P-HACK": tables.HACK,
        }  # fmt: skip
        return {
            **{mark: program == action for mark, action in plain.items()},
            "P-CRASH.block": bb.overlaps(near, now.blocks),
            "P-CRASH.enemy": bb.overlaps(near, now.enemies),
            "P-CRASH.transmission": bb.overlaps(near, now.transmissions),
            "P-WARP.enemy": bb.overlaps(warped, now.enemies),
            "P-WARP.transmission": bb.overlaps(warped, now.transmissions),
            "P-WARP.block": bb.overlaps(warped, now.blocks),
            "P-WARP.pickup": bb.overlaps(warped, now.pickups),
            "P-WARP.exit": bb.overlaps(warped, bb.single(now.exit)),
            "P-D_BOM.tie": bb.overlaps(as_near, daemons & ~bombed),
            "P-D_BOM.blast": bb.overlaps(bb.eight_neighbours(bombed), now.enemies),
            "P-HACK.hit": (program == tables.HACK) & bb.overlaps(now.enemies, now.siphoned),
            "A7.saturated": saturated,
        }

    note(conditions)


def warp_target(now: Snapshot, program: Array, seed: Seed, event: Array) -> Cells:
    """WARP: the cell of a uniform enemy or transmission (empty where the program is another)."""
    wanted = program == tables.WARP
    targets = (now.enemies | now.transmissions).where(wanted)

    def drawn() -> Cells:
        return pick(targets, cell_words(seed, event, Site.WARP))

    return run_if(jnp.any(wanted), drawn, targets)


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
        gone = changed & ~bb.is_nonzero(hp)
        note(
            lambda: {
                "P-POLY.removed": bb.is_any(gone),
                "P-POLY.cryptog": bb.is_any(to_cryptog & ~gone),
                "P-POLY.changed": bb.is_any(changed & ~to_cryptog & ~gone),
            }
        )
        return beings.remove_and_count(new, gone)

    return run_if(jnp.any(wanted), polymorphed, (now, jnp.zeros_like(now.hp)))


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
        moves, onto_block = bb.is_any(target), bb.overlaps(target, now.blocks)
        note(
            lambda: {
                "P-PUSH.moved": pushes & moves,
                "P-PUSH.stayed": pushes & bb.is_any(enemy) & ~moves,
                "P-PUSH.ontoBlock": pushes & onto_block,
                "P-PULL.moved": ~pushes & moves,
                "P-PULL.stayed": ~pushes & bb.is_any(enemy) & ~moves,
                "P-PULL.ontoBlock": ~pushes & onto_block,
            }
        )
        return left & ~enemy, beings.relocate(planes, enemy.where(moves), target)

    start = (now.enemies.where(wanted), planes)
    _, planes = while_loop(lambda state: jnp.any(bb.is_any(state[0])), body, start)
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
    note(
        lambda: {
            "P-PUSH.edge": pushes & bb.is_any(enemy) & ~bb.is_any(both),
            "P-PULL.adjacent": ~pushes & bb.overlaps(enemy, bb.neighbours(player)),
        }
    )
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

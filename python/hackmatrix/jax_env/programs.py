"""The programs (table P, P-PUSH, P-PULL, P-UNDO) as masked updates of few planes.

Every effect is written for all games at once and switched on by the action of each game: no branch
copies whole states. ``program`` is the action (int32), or -1 where no program runs.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import beings, tables
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.beings import AttackEffects, of_type, saturating
from hackmatrix.jax_env.bitboard import Cells
from hackmatrix.jax_env.random import Site, cell_words, note_cells, pack, pick
from hackmatrix.jax_env.state import Snapshot, State, blank_snapshot
from hackmatrix.jax_env.tables import Action, EnemyType
from rlworldkit.jax.batching import choose, computed_once, run_if, while_loop
from rlworldkit.jax.marks import mark
from rlworldkit.jax.threefry import EventDraws, below

Move = Callable[[Cells], Cells]


def applicable_programs(state: State) -> list[Array]:
    """The column "applicable when" of table P, a flag (bool) for each program."""
    now = state.now
    player = bb.single(now.player)
    beings = now.enemies | now.transmissions
    has_enemy = bb.is_any(now.enemies)
    always = jnp.ones_like(has_enemy)
    conditions = {
        Action.PUSH: has_enemy,
        Action.PULL: has_enemy,
        Action.CRASH: bb.overlaps(bb.eight_neighbours(player), now.blocks | beings),
        Action.WARP: bb.is_any(beings),
        Action.POLY: has_enemy,
        Action.WAIT: always,
        Action.DEBUG: bb.overlaps(now.enemies, now.blocks),
        Action.ROW: bb.overlaps(now.enemies, bb.same_row(now.player)),
        Action.COL: bb.overlaps(now.enemies, bb.same_column(now.player)),
        Action.UNDO: state.has_history,
        Action.STEP: always,
        Action.SIPH_PLUS: always,
        Action.EXCH: now.credits >= 4,
        Action.SHOW: ~now.show_activated,
        Action.RESET: now.hp < rules.MAX_HP,
        Action.CALM: ~now.scheduled_tasks_disabled,
        Action.D_BOM: bb.is_any(of_type(now, EnemyType.DAEMON)),
        Action.DELAY: bb.is_any(now.transmissions),
        Action.ANTI_V: bb.is_any(of_type(now, EnemyType.VIRUS)),
        Action.SCORE: now.stage < rules.NUM_STAGES,
        Action.REDUC: bb.overlaps(now.blocks & ~now.siphoned, bb.is_nonzero(now.spawn_count)),
        Action.ATK_PLUS: (now.atk_plus_uses < tables.MAX_ATK_PLUS_USES) & (now.attack_damage < rules.MAX_ATTACK),
        Action.HACK: bb.is_any(now.siphoned),
    }
    return [conditions[action] for action in range(rules.FIRST_PROGRAM, rules.NUM_ACTIONS)]


def keep_history(state: State, ends_turn: Array, undone: Array) -> State:
    """P-UNDO: a turn records the state before it; UNDO brings the record back and leaves none."""
    blank = blank_snapshot(ends_turn.shape)
    fresh = ends_turn | undone
    mark("P-UNDO", lambda: undone)
    mark("P-UNDO.unpaid", lambda: undone & (state.history.credits < tables.CREDIT_COST[Action.UNDO]))
    mark("P-UNDO.record", lambda: ends_turn)
    return state._replace(
        now=choose(undone, state.history, state.now),
        history=choose(ends_turn, state.now, choose(undone, blank, state.history)),
        has_history=(state.has_history | ends_turn) & ~undone,
        kills_since_history=jnp.where(fresh, 0, state.kills_since_history),
        pickups_since_history=jnp.where(fresh, 0, state.pickups_since_history),
    )


def count_since_history(state: State, kills: Array, pickups: Array) -> State:
    """P-UNDO: the action's kills and pickups (int32), added to those since the record where there is one."""
    return state._replace(
        kills_since_history=saturating(state.kills_since_history + jnp.where(state.has_history, kills, 0)),
        pickups_since_history=saturating(state.pickups_since_history + jnp.where(state.has_history, pickups, 0)),
    )


def pay(now: Snapshot, action: Array, valid: Array) -> Snapshot:
    """Take the cost of the action (table P) from credits and energy, not below 0."""
    index = jnp.clip(action, 0, rules.NUM_ACTIONS - 1)
    credits = jnp.where(valid, jnp.asarray(tables.CREDIT_COST)[index], 0)
    energy = jnp.where(valid, jnp.asarray(tables.ENERGY_COST)[index], 0)
    return now._replace(credits=jnp.maximum(now.credits - credits, 0), energy=jnp.maximum(now.energy - energy, 0))


def warp_target(now: Snapshot, program: Array, draws: EventDraws) -> Cells:
    """WARP: the cell of a uniform enemy or transmission (empty where the program is another)."""
    wanted = program == Action.WARP
    targets = (now.enemies | now.transmissions).where(wanted)

    def warped() -> Cells:
        words = cell_words(draws, Site.WARP)
        note_cells(draws, Site.WARP, words, lambda: targets)
        return pick(targets, words)

    target = run_if(jnp.any(wanted), warped, targets)
    mark("R5.cell", lambda: bb.is_any(target))
    mark("P-WARP.enemy", lambda: bb.overlaps(target, now.enemies))
    mark("P-WARP.transmission", lambda: bb.overlaps(target, now.transmissions))
    mark("P-WARP.block", lambda: bb.overlaps(target, now.blocks))
    mark("P-WARP.pickup", lambda: bb.overlaps(target, now.pickups))
    mark("P-WARP.exit", lambda: bb.overlaps(target, bb.single(now.exit)))
    return target


def blow_of(now: Snapshot, program: Array, warped: Cells) -> AttackEffects:
    """The targets of the striking programs: CRASH, WARP, DEBUG, ROW, COL, D_BOM, ANTI-V, HACK."""
    runs = partial(_runs, program)
    player = bb.single(now.player)
    bombs, hits_viruses = runs(Action.D_BOM, "P-D_BOM"), runs(Action.ANTI_V, "P-ANTI-V")
    daemons, viruses = of_type(now, EnemyType.DAEMON), of_type(now, EnemyType.VIRUS)
    nearest = beings.in_first_ring(daemons, beings.rings(player)).where(bombs)
    bombed = bb.lowest(nearest)  # ties: row-major
    mark("P-D_BOM.tie", lambda: bb.is_any(nearest & ~bombed))
    with_attack = (
        (now.enemies & now.blocks).where(runs(Action.DEBUG, "P-DEBUG"))
        | (now.enemies & bb.same_row(now.player)).where(runs(Action.ROW, "P-ROW"))
        | (now.enemies & bb.same_column(now.player)).where(runs(Action.COL, "P-COL"))
        | (now.enemies & now.siphoned).where(runs(Action.HACK, "P-HACK"))
    )
    mark("P-HACK.hit", lambda: (program == Action.HACK) & bb.is_any(with_attack))
    with_one = (now.enemies & bb.eight_neighbours(bombed)) | viruses.where(hits_viruses)
    mark("P-D_BOM.blast", lambda: bombs & bb.is_any(with_one))
    crashed = bb.eight_neighbours(player).where(program == Action.CRASH)
    mark("P-CRASH.enemy", lambda: bb.overlaps(crashed, now.enemies))
    mark("P-CRASH.transmission", lambda: bb.overlaps(crashed, now.transmissions))
    return AttackEffects(
        removed=crashed | warped | bombed,
        hit=with_attack | with_one,
        damage=jnp.where(bombs | hits_viruses, 1, now.attack_damage),
    )


def crash_blocks(now: Snapshot, program: Array) -> Snapshot:
    """CRASH: the blocks in the 8 neighbours are gone; resources and flags of their cells stay."""
    gone = bb.eight_neighbours(bb.single(now.player)).where(program == Action.CRASH)
    mark("P-CRASH.block", lambda: bb.overlaps(gone, now.blocks))
    fields = ("blocks", "questions", "program_blocks", "points", "content", "spawn_count")
    return now._replace(**bb.clear({name: getattr(now, name) for name in fields}, gone))


def poly(now: Snapshot, program: Array, draws: EventDraws) -> tuple[Snapshot, Array]:
    """POLY: every enemy becomes a uniform other type and keeps the damage it took; returns the kills."""
    wanted = program == Action.POLY

    def polymorphed() -> tuple[Snapshot, Array]:
        changed = now.enemies.where(wanted)
        words = cell_words(draws, Site.POLY)
        note_cells(draws, Site.POLY, words, lambda: changed)
        choice = below(words, len(rules.ENEMIES) - 1)
        mark("R5.below", lambda: bb.is_any(changed))
        low, high = pack(choice == 1), pack(choice == 2)
        # `choice` counts the types without the old one, so it goes up by one unless it is below the old type
        was = [bb.equals(now.enemy_type, enemy_type) for enemy_type in range(len(rules.ENEMIES))]
        skip = was[0] | (was[1] & (low | high)) | (was[2] & high)
        new_low, new_high = low ^ skip, high ^ (low & skip)
        enemy_type = (
            (now.enemy_type[0] & ~changed) | (new_low & changed),
            (now.enemy_type[1] & ~changed) | (new_high & changed),
        )
        to_cryptog = changed & bb.equals(enemy_type, EnemyType.CRYPTOG)
        last_known = tuple(
            (plane & ~changed) | (own & to_cryptog) for plane, own in zip(now.last_known, beings.OWN_INDEX, strict=True)
        )
        # only the daemon's maximum differs, by 1: hp = new maximum - damage
        hp = bb.add_saturating(now.enemy_hp, changed & bb.equals(enemy_type, EnemyType.DAEMON), 1)
        hp = bb.decrement(hp, changed & was[EnemyType.DAEMON])
        new = now._replace(enemy_type=enemy_type, enemy_hp=hp, last_known=last_known)
        gone = changed & ~bb.is_nonzero(hp)
        mark("P-POLY.removed", lambda: bb.is_any(gone))
        mark("P-POLY.cryptog", lambda: bb.is_any(to_cryptog & ~gone))
        mark("P-POLY.changed", lambda: bb.is_any(changed & ~to_cryptog & ~gone))
        return beings.remove(new, gone)

    return run_if(jnp.any(wanted), polymorphed, (now, jnp.zeros_like(now.hp)))


def push_or_pull(now: Snapshot, program: Array) -> Snapshot:
    """P-PUSH and P-PULL: enemies move one cell from or toward the player, one after another."""
    pushes = program == Action.PUSH
    wanted = pushes | (program == Action.PULL)
    planes = {name: getattr(now, name) for name in beings.ENEMY_FIELDS}

    def body(state: tuple[Cells, dict[str, Any]]) -> tuple[Cells, dict[str, Any]]:
        left, planes = state
        others = planes["enemies"] | now.transmissions
        some_left = jnp.any(bb.is_any(left))
        enemy, target = computed_once(some_left, _next_moved, left, others, now.player, pushes)
        moves = bb.is_any(target)
        mark("P-PUSH.moved", lambda: pushes & moves)
        mark("P-PUSH.stayed", lambda: pushes & bb.is_any(enemy) & ~moves)
        mark("P-PUSH.ontoBlock", lambda: pushes & bb.overlaps(target, now.blocks))
        mark("P-PULL.moved", lambda: ~pushes & moves)
        mark("P-PULL.stayed", lambda: ~pushes & bb.is_any(enemy) & ~moves)
        mark("P-PULL.ontoBlock", lambda: ~pushes & bb.overlaps(target, now.blocks))
        return left & ~enemy, bb.relocate(planes, enemy.where(moves), target)

    start = (now.enemies.where(wanted), planes)
    _, planes = while_loop(lambda state: jnp.any(bb.is_any(state[0])), body, start)
    return now._replace(**planes)


def _next_moved(left: Cells, others: Cells, player_cell: Array, pushes: Array) -> tuple[Cells, Cells]:
    """The next of the enemies ``left`` to be moved, and the cell it goes to (empty when it stays)."""
    player = bb.single(player_cell)
    outward = beings.rings(player)
    first = bb.select(pushes, beings.in_first_ring(left, outward[::-1]), beings.in_first_ring(left, outward))
    enemy = bb.lowest(first)  # ties: row-major
    cell = bb.index_of(enemy)
    away = jnp.where(pushes, jnp.int32(1), -1)
    row_sign = jnp.sign(bb.row_of(cell) - bb.row_of(player_cell)) * away
    column_sign = jnp.sign(bb.column_of(cell) - bb.column_of(player_cell)) * away
    by_row = _shifted(enemy, row_sign, bb.up, bb.down)
    by_column = _shifted(enemy, column_sign, bb.right, bb.left)
    both = _shifted(by_row, column_sign, bb.right, bb.left)
    mark("P-PUSH.edge", lambda: pushes & bb.is_any(enemy) & ~bb.is_any(both))
    mark("P-PULL.adjacent", lambda: ~pushes & bb.overlaps(enemy, bb.neighbours(player)))
    # of the candidates on the board except the player's cell, `both` is farthest (nearest), and the other two tie
    target = bb.EMPTY
    for candidate in (by_column.where(column_sign != 0), by_row.where(row_sign != 0), both):
        usable = candidate & ~player
        target = bb.select(bb.is_any(usable), usable, target)
    return enemy, target & ~others


def _shifted(cells: Cells, sign: Array, forward: Move, backward: Move) -> Cells:
    return bb.select(sign > 0, forward(cells), bb.select(sign < 0, backward(cells), cells))


_DELAY = 3
"""Turns that DELAY adds."""


def change_cells(now: Snapshot, program: Array) -> Snapshot:
    """DELAY and REDUC: change numbers on many cells."""
    delayed = now.transmissions.where(_runs(program, Action.DELAY, "P-DELAY"))
    reduced = (now.blocks & ~now.siphoned).where(_runs(program, Action.REDUC, "P-REDUC"))
    timer, most = bb.add_saturating(now.timer, delayed, _DELAY), tables.MAX_TIMER
    mark("A7.saturated", lambda: bb.is_any(delayed & bb.equals(timer, most) & ~bb.equals(now.timer, most - _DELAY)))
    return now._replace(timer=timer, spawn_count=bb.decrement(now.spawn_count, reduced))


def change_scalars(now: Snapshot, program: Array) -> Snapshot:
    """STEP, SIPH+, EXCH, SHOW, RESET, CALM, SCORE and ATK+: change the player's numbers and the flags."""
    runs = partial(_runs, program)
    atk_plus = runs(Action.ATK_PLUS, "P-ATK+")
    return now._replace(
        step_active=now.step_active | runs(Action.STEP, "P-STEP"),
        data_siphons=saturating(now.data_siphons + runs(Action.SIPH_PLUS, "P-SIPH+")),
        energy=saturating(now.energy + jnp.where(runs(Action.EXCH, "P-EXCH"), jnp.int32(4), 0)),
        show_activated=now.show_activated | runs(Action.SHOW, "P-SHOW"),
        hp=jnp.where(runs(Action.RESET, "P-RESET"), rules.MAX_HP, now.hp),
        scheduled_tasks_disabled=now.scheduled_tasks_disabled | runs(Action.CALM, "P-CALM"),
        score=saturating(now.score + jnp.where(runs(Action.SCORE, "P-SCORE"), rules.NUM_STAGES - now.stage, 0)),
        attack_damage=now.attack_damage + atk_plus,
        atk_plus_uses=now.atk_plus_uses + atk_plus,
    )


def _runs(program: Array, action: int, name: str) -> Array:
    """Mark the games that run a program under its name, and return them (bool)."""
    mark(name, lambda: program == action)
    return program == action

"""The enemy turn (E1-E12)."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.beings import OWN_INDEX, of_type
from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.pathfinding import nearest
from hackmatrix.jax_env.random import Site, cell_index, cell_words, note_cells, note_word, pick
from hackmatrix.jax_env.spawn import spawn
from hackmatrix.jax_env.state import Snapshot
from hackmatrix.jax_env.tables import EnemyType
from rlworldkit.jax.batching import computed_once, repeat, while_loop
from rlworldkit.jax.marks import mark
from rlworldkit.jax.threefry import EventDraws, below

ROUNDS = max(enemy.speed for enemy in tables.ENEMIES)
"""E4: movement rounds, as many as the fastest enemy has moves."""


def enemy_turn(
    now: Snapshot, wanted: Array, draws: EventDraws, note: Callable[[str, Array, Snapshot], Snapshot]
) -> Snapshot:
    """Run the enemy turn where ``wanted`` (bool) holds; ``note`` takes and returns the snapshot after each phase."""
    skipped = wanted & now.step_active  # E1
    mark("E1", lambda: skipped)
    runs = wanted & ~now.step_active
    now = now._replace(step_active=now.step_active & ~skipped, turn=now.turn + runs.astype(jnp.uint32))  # E2
    mark("E2", lambda: runs)
    now = note("turn (E1, E2)", wanted, now)
    now = note("arrivals (E3)", runs, arrive(now, runs))
    now = note("moves (E4-E9)", runs, move_enemies(now, runs, draws))
    now = note("spawns (E10, E11)", runs, spawn_transmissions(now, runs, draws))
    return note("recovery (E12)", runs, recover(now, runs))


def arrive(now: Snapshot, runs: Array) -> Snapshot:
    """E3: transmissions come closer; those at 0 become enemies."""
    coming = now.transmissions.where(runs)
    timer = bb.decrement(now.timer, coming)
    arrived = coming & ~bb.is_nonzero(timer)
    daemons = arrived & bb.equals(now.enemy_type, EnemyType.DAEMON)
    cryptogs = arrived & bb.equals(now.enemy_type, EnemyType.CRYPTOG)
    mark("E3.waiting", lambda: bb.is_any(coming & ~arrived))
    mark("E3.cryptog", lambda: bb.is_any(cryptogs))
    mark("E3.enemy", lambda: bb.is_any(arrived & ~cryptogs))
    return now._replace(
        transmissions=now.transmissions & ~arrived,
        enemies=now.enemies | arrived,
        # full hp: 3 for a daemon, else 2
        enemy_hp=(now.enemy_hp[0] | daemons, now.enemy_hp[1] | arrived),
        timer=(timer[0] | arrived, *timer[1:]),  # disabled 1
        last_known=tuple(plane | (own & cryptogs) for plane, own in zip(now.last_known, OWN_INDEX, strict=True)),
    )


class _Movers(NamedTuple):
    """State that changes while enemies move; small, because loops carry it."""

    enemies: Cells
    enemy_type: Number
    enemy_hp: Number
    from_siphon: Cells
    from_schedule: Cells
    last_known: Number
    attacked: Cells
    """The enemies that have attacked this turn; they stay where they are."""


def move_enemies(now: Snapshot, runs: Array, draws: EventDraws) -> Snapshot:
    """E4: the movement rounds."""
    # timers and stuns do not change before E12, and those that have either neither act nor move
    able = ~(bb.is_nonzero(now.timer) | now.stunned)
    mark("E4.disabled", lambda: runs & bb.overlaps(now.enemies, bb.is_nonzero(now.timer)))
    mark("E4.stunned", lambda: runs & bb.overlaps(now.enemies, now.stunned))
    has_virus = bb.is_any(of_type(now, EnemyType.VIRUS))
    mark("E4.oneRound", lambda: runs & bb.is_any(now.enemies) & ~has_virus)
    mark("E4.twoRounds", lambda: runs & has_virus)
    mark("R5.order", lambda: runs & bb.is_any(now.enemies))

    def one_round(round_number: Array, state: tuple[_Movers, Array]) -> tuple[_Movers, Array]:
        movers, _ = state
        first = round_number == 0
        fast = bb.select(first, bb.ALL, bb.equals(movers.enemy_type, EnemyType.VIRUS))
        acting = (movers.enemies & able & fast & ~movers.attacked).where(runs & (first | has_virus))
        mark("E4.attacked", lambda: runs & has_virus & ~first & bb.is_any(movers.attacked))
        mark("E4.tooSlow", lambda: runs & has_virus & bb.is_any(movers.enemies & ~fast))
        order = cell_words(draws, Site.ORDER, round_number)
        # enemies that cannot act have a place in the order, too
        note_cells(draws, Site.ORDER, order, lambda: movers.enemies.where(runs & (first | has_virus)), round_number)

        def act(state: tuple[Cells, _Movers, Array]) -> tuple[Cells, _Movers, Array]:
            left, movers, hp = state
            enemy = pick(left, order)
            movers, attacks = _act(now, movers, enemy, round_number, draws)
            mark("E5.attack", lambda: attacks & (hp > 1))
            mark("E5.lethal", lambda: attacks & (hp == 1))
            mark("E5.afterDeath", lambda: attacks & (hp <= 0))
            return left & ~enemy, movers, jnp.where(attacks, jnp.maximum(hp - 1, 0), hp)  # E5

        return while_loop(lambda state: jnp.any(bb.is_any(state[0])), act, (acting, *state))[1:]

    planes = {name: getattr(now, name) for name in _Movers._fields[:-1]}
    movers, hp = repeat(ROUNDS, one_round, (_Movers(**planes, attacked=now.enemies ^ now.enemies), now.hp))
    return now._replace(hp=hp, **{name: getattr(movers, name) for name in planes})


def _act(now: Snapshot, movers: _Movers, enemy: Cells, round_number: Array, draws: EventDraws) -> tuple[_Movers, Array]:
    """E5-E9 for one enemy (a set of one cell, or empty); the second result is whether it attacks (bool)."""
    player = bb.single(now.player)
    attacks = bb.overlaps(bb.neighbours(enemy), player)  # E5
    walker = enemy.where(~attacks)
    index = cell_index(jnp.asarray(round_number, jnp.uint32), bb.index_of(enemy))
    word = draws.word(Site.STEP, index)
    destination = partial(_destination, partial(note_word, draws, Site.STEP, index, word))
    target = computed_once(jnp.any(bb.is_any(walker)), destination, now, movers, walker, word)
    moves = bb.is_any(target)
    mark("E8.stayed", lambda: bb.is_any(walker) & ~moves)
    is_cryptog = bb.overlaps(enemy, bb.equals(movers.enemy_type, EnemyType.CRYPTOG))
    movers = bb.relocate(movers, walker.where(moves), target)
    in_sight = bb.same_row(now.player) | bb.same_column(now.player)
    seen = (target & in_sight).where(is_cryptog)  # E9
    mark("E9", lambda: bb.is_any(seen))
    last_known = tuple((plane & ~seen) | (own & seen) for plane, own in zip(movers.last_known, OWN_INDEX, strict=True))
    return movers._replace(last_known=last_known, attacked=movers.attacked | enemy.where(attacks)), attacks


def _destination(
    note: Callable[[Callable[[], Array]], None], now: Snapshot, movers: _Movers, walker: Cells, word: Array
) -> Cells:
    """The cell that an enemy moves to (E6-E8), empty where it stays or where there is no enemy.

    ``note`` takes a function that flags the games where the word is drawn.
    """
    player = bb.single(now.player)
    is_glitch = bb.overlaps(walker, bb.equals(movers.enemy_type, EnemyType.GLITCH))
    is_cryptog = bb.overlaps(walker, bb.equals(movers.enemy_type, EnemyType.CRYPTOG))
    enterable = ~now.blocks.where(~is_glitch)
    occupied = (movers.enemies | now.transmissions) & ~walker
    around = bb.neighbours(walker)
    is_walking = bb.is_any(walker)

    direct = nearest(player, around, enterable & ~occupied, is_walking)  # E6
    mark("E6.path", lambda: bb.is_any(direct))
    mark("E6.several", lambda: bb.count(direct) > 1)
    blocked = is_walking & ~bb.is_any(direct)
    mark("E7.noPath", lambda: blocked)
    through = nearest(player, around, enterable, blocked) & ~occupied  # E7
    mark("E7.moved", lambda: bb.is_any(through))
    mark("E7.several", lambda: bb.count(through) > 1)

    first_steps = direct | through
    hidden = ~(bb.same_row(now.player) | bb.same_column(now.player))
    preferred = (first_steps & hidden).where(is_cryptog) | (first_steps & now.blocks).where(is_glitch)
    mark("E6.cryptog", lambda: (bb.count(first_steps) > 1) & is_cryptog & bb.is_any(preferred))
    mark("E6.glitch", lambda: (bb.count(first_steps) > 1) & is_glitch & bb.is_any(preferred))
    candidates = bb.select(bb.is_any(preferred), preferred, first_steps)

    steps = [move(walker) for move in bb.DIRECTIONS]
    number, passed, target = below(word, bb.count(candidates)), jnp.int32(0), bb.EMPTY
    mark("R5.below", lambda: bb.count(first_steps) > 1)
    note(lambda: bb.count(first_steps) > 1)
    for step in steps:  # R5: one of a list
        is_open = bb.overlaps(step, candidates)
        target = target | step.where(is_open & (passed == number))
        passed = passed + is_open.astype(jnp.int32)
    fallback = _nearest_neighbour(now, steps, enterable & ~occupied)  # E8
    mark("E8.moved", lambda: bb.is_any(fallback) & ~bb.is_any(candidates))
    return bb.select(bb.is_any(candidates), target, fallback)


def _nearest_neighbour(now: Snapshot, steps: list[Cells], free: Cells) -> Cells:
    """E8: of the neighbours (in direction order) that are free, the one nearest to the player."""
    best, best_distance = bb.EMPTY, jnp.int32(2 * rules.SIZE)  # farther than any cell
    for step in steps:
        usable = step & free
        index = bb.index_of(step)
        rows = bb.row_of(index) - bb.row_of(now.player)
        columns = bb.column_of(index) - bb.column_of(now.player)
        distance = jnp.abs(rows) + jnp.abs(columns)
        better = bb.is_any(usable) & (distance < best_distance)
        best = bb.select(better, usable, best)
        best_distance = jnp.where(better, distance, best_distance)
    return best


def spawn_transmissions(now: Snapshot, runs: Array, draws: EventDraws) -> Snapshot:
    """E10, E11: one scheduled transmission when it is due, then the pending siphon spawns."""
    on_time = runs & (now.turn >= now.next_scheduled_task_turn)
    due = on_time & ~now.scheduled_tasks_disabled  # E10
    mark("E10.calm", lambda: on_time & now.scheduled_tasks_disabled)
    pending = jnp.where(runs, now.pending_siphon_transmissions, 0)  # E11
    mark("E11", lambda: pending > 0)
    stoppers = now.enemies | now.blocks
    made = spawn(bb.single(now.player), stoppers, now.transmissions, draws, Site.SIPHON_CELL, pending, scheduled=due)
    mark("E10.spawned", lambda: due & bb.is_any(made.scheduled))
    mark("E10.dropped", lambda: due & ~bb.is_any(made.scheduled))
    return now._replace(
        transmissions=now.transmissions | made.cells,
        enemy_type=tuple(old | new for old, new in zip(now.enemy_type, made.enemy_type, strict=True)),
        timer=(now.timer[0] | made.cells, *now.timer[1:]),  # turns 1
        from_schedule=now.from_schedule | made.scheduled,
        from_siphon=now.from_siphon | (made.cells & ~made.scheduled),
        next_scheduled_task_turn=jnp.where(due, now.turn + now.scheduled_task_interval, now.next_scheduled_task_turn),
        pending_siphon_transmissions=jnp.where(runs, 0, now.pending_siphon_transmissions),
    )


def recover(now: Snapshot, runs: Array) -> Snapshot:
    """E12: every enemy's disabled turns go down and its stun ends."""
    enemies = now.enemies.where(runs)
    mark("E12.disabled", lambda: bb.overlaps(enemies, bb.is_nonzero(now.timer)))
    mark("E12.stunned", lambda: bb.overlaps(enemies, now.stunned))
    return now._replace(timer=bb.decrement(now.timer, enemies), stunned=now.stunned & ~enemies)

"""The enemy turn (E1-E12)."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.beings import OWN_INDEX, of_kind, relocate
from hackmatrix.jax_env.bitboard import Cells
from hackmatrix.jax_env.pathfinding import nearest
from hackmatrix.jax_env.random import Site, below, cell_words, nth_true, pick, word
from hackmatrix.jax_env.spawn import Surroundings, spawn
from hackmatrix.jax_env.state import Seed, Snapshot

ROUNDS = 2
"""E4: as many as the fastest enemy moves."""


def enemy_turn(now: Snapshot, wanted: Array, seed: Seed, event: Array) -> Snapshot:
    """Run the enemy turn in the games where ``wanted`` (bool) holds."""
    skipped = wanted & now.step  # E1
    runs = wanted & ~now.step
    now = now._replace(step=now.step & ~skipped, turn=now.turn + runs.astype(jnp.uint32))  # E2
    now = arrive(now, runs)
    now = move_enemies(now, runs, seed, event)
    now = spawn_transmissions(now, runs, seed, event)
    return recover(now, runs)


def arrive(now: Snapshot, runs: Array) -> Snapshot:
    """E3: transmissions come closer; those at 0 become enemies."""
    coming = now.transmissions.where(runs)
    timer = bb.decrement(now.timer, coming)
    arrived = coming & ~bb.is_nonzero(timer)
    daemons = arrived & bb.equals(now.kind, tables.DAEMON)
    cryptogs = arrived & bb.equals(now.kind, tables.CRYPTOG)
    return now._replace(
        transmissions=now.transmissions & ~arrived,
        enemies=now.enemies | arrived,
        # full hp: 3 for a daemon, else 2
        enemy_hp=(now.enemy_hp[0] | daemons, now.enemy_hp[1] | arrived),
        timer=(timer[0] | arrived, *timer[1:]),  # disabled 1
        last_known=tuple(plane | (own & cryptogs) for plane, own in zip(now.last_known, OWN_INDEX, strict=True)),
    )


class _Moving(NamedTuple):
    """What enemies change while they move."""

    now: Snapshot
    attacked: Cells


def move_enemies(now: Snapshot, runs: Array, seed: Seed, event: Array) -> Snapshot:
    """E4: the movement rounds."""
    # timers and stuns do not change before E12, and those that have either do not act
    able = ~(bb.is_nonzero(now.timer) | now.stunned)
    has_virus = bb.is_any(of_kind(now, tables.VIRUS))

    def one_round(round_number: Array, moving: _Moving) -> _Moving:
        first = round_number == 0
        fast = bb.select(first, bb.ALL, of_kind(moving.now, tables.VIRUS))
        acting = moving.now.enemies & able & fast & ~moving.attacked
        acting = acting.where(runs & (first | has_virus))
        order = cell_words(seed, event, Site.ORDER, round_number)

        def act(state: tuple[Cells, _Moving]) -> tuple[Cells, _Moving]:
            left, moving = state
            enemy = pick(left, order)
            return left & ~enemy, _act(moving, enemy, round_number, seed, event)

        return lax.while_loop(lambda state: jnp.any(bb.is_any(state[0])), act, (acting, moving))[1]

    nobody = now.enemies ^ now.enemies
    return lax.fori_loop(0, ROUNDS, one_round, _Moving(now, nobody)).now


def _act(moving: _Moving, enemy: Cells, round_number: Array, seed: Seed, event: Array) -> _Moving:
    """E5-E9 for one enemy (a set of one cell, or empty)."""
    now = moving.now
    player = bb.single(now.player)
    attacks = bb.overlaps(bb.neighbours(enemy), player)  # E5
    walker = enemy.where(~attacks)
    index = bb.index_of(enemy)
    random = word(seed, event, Site.STEP, index + jnp.uint32(36) * round_number.astype(jnp.uint32))
    target = _destination(now, walker, random)
    moves = bb.is_any(target)
    is_cryptog = bb.overlaps(enemy, bb.equals(now.kind, tables.CRYPTOG))
    now = relocate(now, walker.where(moves), target)
    in_sight = bb.same_row(now.player) | bb.same_column(now.player)
    seen = (target & in_sight).where(is_cryptog)  # E9
    now = now._replace(
        hp=jnp.where(attacks, jnp.maximum(now.hp - 1, 0), now.hp),
        last_known=tuple((plane & ~seen) | (own & seen) for plane, own in zip(now.last_known, OWN_INDEX, strict=True)),
    )
    return _Moving(now, moving.attacked | enemy.where(attacks))


def _destination(now: Snapshot, walker: Cells, random: Array) -> Cells:
    """The cell that an enemy moves to (E6-E8), empty where it stays or where there is no enemy."""
    player = bb.single(now.player)
    is_glitch = bb.overlaps(walker, bb.equals(now.kind, tables.GLITCH))
    is_cryptog = bb.overlaps(walker, bb.equals(now.kind, tables.CRYPTOG))
    enterable = ~now.blocks.where(~is_glitch)
    occupied = (now.enemies | now.transmissions) & ~walker
    around = bb.neighbours(walker)
    is_walking = bb.is_any(walker)

    direct = nearest(player, around, enterable & ~occupied, is_walking).goals  # E6
    blocked = is_walking & ~bb.is_any(direct)
    through = nearest(player, around, enterable, blocked).goals & ~occupied  # E7
    candidates = direct | through

    hidden = ~(bb.same_row(now.player) | bb.same_column(now.player))
    preferred = (candidates & hidden).where(is_cryptog) | (candidates & now.blocks).where(is_glitch)
    candidates = bb.select(bb.is_any(preferred), preferred, candidates)

    steps = [move(walker) for move in bb.DIRECTIONS]
    open_steps = [bb.overlaps(step, candidates) for step in steps]
    chosen = nth_true(open_steps, below(random, bb.count(candidates)))
    target = bb.EMPTY
    for step, is_chosen in zip(steps, chosen, strict=True):
        target = target | step.where(is_chosen)
    return bb.select(bb.is_any(candidates), target, _nearest_neighbour(now, steps, enterable & ~occupied))


def _nearest_neighbour(now: Snapshot, steps: list[Cells], free: Cells) -> Cells:
    """E8: of the neighbours (in direction order) that are free, the one nearest to the player."""
    best, best_distance = bb.EMPTY, jnp.int32(99)
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


def spawn_transmissions(now: Snapshot, runs: Array, seed: Seed, event: Array) -> Snapshot:
    """E10, E11: one scheduled transmission when it is due, then the pending siphon spawns."""
    due = runs & ~now.calm & (now.turn >= now.next_spawn)
    pending = jnp.where(runs, now.pending, 0)
    around = Surroundings(bb.single(now.player), now.enemies, now.blocks)
    made = spawn(around, now.transmissions, seed, event, Site.SIPHON_CELL, pending, scheduled=due)
    return now._replace(
        transmissions=now.transmissions | made.cells,
        kind=tuple(old | new for old, new in zip(now.kind, made.kind, strict=True)),
        timer=(now.timer[0] | made.cells, *now.timer[1:]),  # turns 1
        from_schedule=now.from_schedule | made.scheduled,
        from_siphon=now.from_siphon | (made.cells & ~made.scheduled),
        next_spawn=jnp.where(due, now.turn + now.interval, now.next_spawn),
        pending=jnp.where(runs, 0, now.pending),
    )


def recover(now: Snapshot, runs: Array) -> Snapshot:
    """E12: every enemy's disabled turns go down and its stun ends."""
    enemies = now.enemies.where(runs)
    return now._replace(timer=bb.decrement(now.timer, enemies), stunned=now.stunned & ~enemies)

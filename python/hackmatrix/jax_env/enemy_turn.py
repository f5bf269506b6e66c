"""The enemy turn (E1-E12)."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.batching import computed_once, repeat, while_loop
from hackmatrix.jax_env.beings import OWN_INDEX, of_kind, relocate
from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.marks import note
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
    note(lambda: {"E1": skipped, "E2": runs})
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
    note(
        lambda: {
            "E3.waiting": bb.is_any(coming & ~arrived),
            "E3.cryptog": bb.is_any(cryptogs),
            "E3.enemy": bb.is_any(arrived & ~cryptogs),
        }
    )
    return now._replace(
        transmissions=now.transmissions & ~arrived,
        enemies=now.enemies | arrived,
        # full hp: 3 for a daemon, else 2
        enemy_hp=(now.enemy_hp[0] | daemons, now.enemy_hp[1] | arrived),
        timer=(timer[0] | arrived, *timer[1:]),  # disabled 1
        last_known=tuple(plane | (own & cryptogs) for plane, own in zip(now.last_known, OWN_INDEX, strict=True)),
    )


class _Movers(NamedTuple):
    """What enemies change while they move: little, because loops carry it."""

    enemies: Cells
    kind: Number
    enemy_hp: Number
    from_siphon: Cells
    from_schedule: Cells
    last_known: Number
    attacked: Cells
    """The enemies that have attacked this turn; they stay where they are."""


class _Loop(NamedTuple):
    left: Cells
    """The enemies that have yet to act in this round, at their cells of its start."""
    movers: _Movers
    hp: Array
    """The player's."""


def move_enemies(now: Snapshot, runs: Array, seed: Seed, event: Array) -> Snapshot:
    """E4: the movement rounds."""
    # timers and stuns do not change before E12, and those that have either neither act nor move
    able = ~(bb.is_nonzero(now.timer) | now.stunned)
    has_virus = bb.is_any(of_kind(now, tables.VIRUS))
    nobody = now.enemies ^ now.enemies
    note(
        lambda: {
            "E4.oneRound": runs & bb.is_any(now.enemies) & ~has_virus,
            "E4.twoRounds": runs & has_virus,
            "E4.disabled": runs & bb.overlaps(now.enemies, bb.is_nonzero(now.timer)),
            "E4.stunned": runs & bb.overlaps(now.enemies, now.stunned),
        }
    )

    def one_round(round_number: Array, loop: _Loop) -> _Loop:
        movers = loop.movers
        first = round_number == 0
        fast = bb.select(first, bb.ALL, bb.equals(movers.kind, tables.VIRUS))
        acting = (movers.enemies & able & fast & ~movers.attacked).where(runs & (first | has_virus))
        note(
            lambda: {
                "E4.attacked": runs & has_virus & ~first & bb.is_any(movers.attacked),
                "E4.tooSlow": runs & has_virus & bb.is_any(movers.enemies & ~fast),
            }
        )
        order = cell_words(seed, event, Site.ORDER, round_number)

        def act(loop: _Loop) -> _Loop:
            enemy = pick(loop.left, order)
            movers, attacks = _act(now, loop.movers, enemy, round_number, seed, event)
            note(
                lambda: {
                    "E5.attack": attacks & (loop.hp > 1),
                    "E5.lethal": attacks & (loop.hp == 1),
                    "E5.afterDeath": attacks & (loop.hp <= 0),
                }
            )
            return _Loop(loop.left & ~enemy, movers, jnp.where(attacks, jnp.maximum(loop.hp - 1, 0), loop.hp))

        return while_loop(lambda loop: jnp.any(bb.is_any(loop.left)), act, _Loop(acting, movers, loop.hp))

    movers = _Movers(
        now.enemies, now.kind, now.enemy_hp, now.from_siphon, now.from_schedule, now.last_known, attacked=nobody
    )
    loop = repeat(ROUNDS, one_round, _Loop(nobody, movers, now.hp))
    moved = loop.movers._asdict()
    del moved["attacked"]
    return now._replace(hp=loop.hp, **moved)


def _act(
    now: Snapshot, movers: _Movers, enemy: Cells, round_number: Array, seed: Seed, event: Array
) -> tuple[_Movers, Array]:
    """E5-E9 for one enemy (a set of one cell, or empty); also whether it attacks."""
    player = bb.single(now.player)
    attacks = bb.overlaps(bb.neighbours(enemy), player)  # E5
    walker = enemy.where(~attacks)
    index = bb.index_of(enemy)
    random = word(seed, event, Site.STEP, index + jnp.uint32(36) * jnp.asarray(round_number, jnp.uint32))
    target = computed_once(jnp.any(bb.is_any(walker)), _destination, now, movers, walker, random)
    moves = bb.is_any(target)
    is_cryptog = bb.overlaps(enemy, bb.equals(movers.kind, tables.CRYPTOG))
    movers = relocate(movers, walker.where(moves), target)
    in_sight = bb.same_row(now.player) | bb.same_column(now.player)
    seen = (target & in_sight).where(is_cryptog)  # E9
    note(lambda: {"E9": bb.is_any(seen), "E8.stayed": bb.is_any(walker) & ~moves})
    last_known = tuple((plane & ~seen) | (own & seen) for plane, own in zip(movers.last_known, OWN_INDEX, strict=True))
    return movers._replace(last_known=last_known, attacked=movers.attacked | enemy.where(attacks)), attacks


def _destination(now: Snapshot, movers: _Movers, walker: Cells, random: Array) -> Cells:
    """The cell that an enemy moves to (E6-E8), empty where it stays or where there is no enemy."""
    player = bb.single(now.player)
    is_glitch = bb.overlaps(walker, bb.equals(movers.kind, tables.GLITCH))
    is_cryptog = bb.overlaps(walker, bb.equals(movers.kind, tables.CRYPTOG))
    enterable = ~now.blocks.where(~is_glitch)
    occupied = (movers.enemies | now.transmissions) & ~walker
    around = bb.neighbours(walker)
    is_walking = bb.is_any(walker)

    direct = nearest(player, around, enterable & ~occupied, is_walking)  # E6
    blocked = is_walking & ~bb.is_any(direct)
    through = nearest(player, around, enterable, blocked) & ~occupied  # E7
    candidates = direct | through

    hidden = ~(bb.same_row(now.player) | bb.same_column(now.player))
    several = bb.count(candidates) > 1
    note(
        lambda: {
            "E6.path": bb.is_any(direct),
            "E6.several": several & bb.is_any(direct),
            "E6.cryptog": several & is_cryptog & bb.overlaps(candidates, hidden),
            "E6.glitch": several & is_glitch & bb.overlaps(candidates, now.blocks),
            "E7.noPath": blocked,
            "E7.moved": bb.is_any(through),
            "E7.several": several & bb.is_any(through),
        }
    )
    preferred = (candidates & hidden).where(is_cryptog) | (candidates & now.blocks).where(is_glitch)
    candidates = bb.select(bb.is_any(preferred), preferred, candidates)

    steps = [move(walker) for move in bb.DIRECTIONS]
    open_steps = [bb.overlaps(step, candidates) for step in steps]
    chosen = nth_true(open_steps, below(random, bb.count(candidates)))
    target = bb.EMPTY
    for step, is_chosen in zip(steps, chosen, strict=True):
        target = target | step.where(is_chosen)
    fallback = _nearest_neighbour(now, steps, enterable & ~occupied)
    note(lambda: {"E8.moved": bb.is_any(fallback) & ~bb.is_any(candidates)})
    return bb.select(bb.is_any(candidates), target, fallback)


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
    note(
        lambda: {
            "E10.calm": runs & now.calm & (now.turn >= now.next_spawn),
            "E10.spawned": due & bb.is_any(made.scheduled),
            "E10.dropped": due & ~bb.is_any(made.scheduled),
            "E11": pending > 0,
        }
    )
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
    note(
        lambda: {
            "E12.disabled": bb.overlaps(enemies, bb.is_nonzero(now.timer)),
            "E12.stunned": bb.overlaps(enemies, now.stunned),
        }
    )
    return now._replace(timer=bb.decrement(now.timer, enemies), stunned=now.stunned & ~enemies)

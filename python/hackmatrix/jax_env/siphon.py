"""Siphoning (S1-S5) and what a better siphon would have given (W2)."""

import jax.numpy as jnp
from jax import Array, lax

from hackmatrix import rules
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.beings import saturating
from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.state import Snapshot
from rlworldkit.jax.batching import computed_once, repeat
from rlworldkit.jax.marks import mark

_WHOLE_CROSS = 1 + len(bb.DIRECTIONS)
"""Cells of a cross that no edge cuts (S1)."""
_AT_ONCE = 8
"""Kinds of blocks that a TPU compares in one loop iteration."""


def siphon(now: Snapshot, wanted: Array) -> Snapshot:
    """Siphon the cross around the player in the games where ``wanted`` (bool) holds."""
    player = bb.single(now.player).where(wanted)
    handled = bb.cross(player) & ~now.siphoned  # S1
    mark("S1.edge", lambda: wanted & (bb.count(bb.cross(player)) < _WHOLE_CROSS))
    mark("S1.skipped", lambda: bb.overlaps(bb.cross(player), now.siphoned))
    now = _take_blocks(now, player, handled & now.blocks)
    now = _take_resources(now, handled & ~now.blocks)
    return _use_up(now, player, handled, wanted)


def _take_blocks(now: Snapshot, player: Cells, blocks: Cells) -> Snapshot:
    """S2: what the blocks give."""
    data, program_cells = blocks & ~now.program_blocks, blocks & now.program_blocks
    programs = _programs_in(now, program_cells)

    def num_new() -> Array:
        return lax.population_count(programs & ~now.owned_programs).astype(jnp.int32)

    mark("S2.data", lambda: bb.is_any(data))
    mark("S2.program", lambda: num_new() > 0)
    mark("S2.alreadyOwned", lambda: bb.count(program_cells) > num_new())
    mark("S2.question", lambda: bb.overlaps(blocks, now.questions))
    mark("S2.ownCell", lambda: bb.overlaps(player, now.blocks))
    return now._replace(
        score=saturating(now.score + bb.total(now.points, data)),
        owned_programs=now.owned_programs | programs,
        questions=now.questions & ~blocks,
        pending_siphon_transmissions=saturating(now.pending_siphon_transmissions + bb.total(now.spawn_count, blocks)),
        spawn_count=bb.clear(now.spawn_count, blocks),
    )


def _take_resources(now: Snapshot, open_cells: Cells) -> Snapshot:
    """S3: what the cells without a block give."""
    mark("S3.credits", lambda: bb.overlaps(open_cells, bb.is_nonzero(now.cell_credits)))
    mark("S3.energy", lambda: bb.overlaps(open_cells, bb.is_nonzero(now.cell_energy)))
    mark("S3.pickupStays", lambda: bb.overlaps(open_cells, now.pickups))
    return now._replace(
        credits=saturating(now.credits + bb.total(now.cell_credits, open_cells)),
        energy=saturating(now.energy + bb.total(now.cell_energy, open_cells)),
        cell_credits=bb.clear(now.cell_credits, open_cells),
        cell_energy=bb.clear(now.cell_energy, open_cells),
    )


def _use_up(now: Snapshot, player: Cells, handled: Cells, wanted: Array) -> Snapshot:
    """S4 and S5: the flags of the cells, the data siphon, and the next scheduled spawn."""
    mark("S4.centre", lambda: bb.is_any(player & ~now.siphon_centers))
    mark("S4.centreAgain", lambda: bb.overlaps(player, now.siphon_centers))
    interval = jnp.maximum(now.scheduled_task_interval, jnp.uint32(tables.MIN_INTERVAL + 1)) - jnp.uint32(1)  # S5
    mark("S5", lambda: wanted & (now.scheduled_task_interval > tables.MIN_INTERVAL))
    mark("S5.floor", lambda: wanted & (now.scheduled_task_interval <= tables.MIN_INTERVAL))
    return now._replace(
        siphoned=now.siphoned | handled,
        siphon_centers=now.siphon_centers | player,
        data_siphons=now.data_siphons - wanted.astype(jnp.int32),
        scheduled_task_interval=jnp.where(wanted, interval, now.scheduled_task_interval),
        next_scheduled_task_turn=now.next_scheduled_task_turn + jnp.where(wanted, jnp.uint32(5), jnp.uint32(0)),
    )


def _programs_in(now: Snapshot, here: Cells) -> Array:
    """The programs that the program blocks of a cross hold: bit p (uint32) for row p of table P."""
    programs = jnp.zeros(now.owned_programs.shape, jnp.uint32)
    for _ in range(_WHOLE_CROSS):
        cell = bb.lowest(here)
        bit = jnp.uint32(1) << bb.total(now.content, cell).astype(jnp.uint32)
        programs = programs | jnp.where(bb.is_any(cell), bit, 0)
        here = here & ~cell
    return programs


def missed_by_siphon(now: Snapshot, siphons: Array) -> Array:
    """The credits and energy (int32) that better cells would have given on top of a siphon (W2), 0 without one."""
    missed = jnp.where(siphons, computed_once(jnp.any(siphons), _missed_here, now), 0)
    mark("W2.onBlock", lambda: siphons & bb.overlaps(bb.single(now.player), now.blocks))
    mark("W2.missed", lambda: missed > 0)
    mark("W2.best", lambda: siphons & (missed == 0))
    return missed


def _missed_here(now: Snapshot) -> Array:
    player = bb.single(now.player)
    here = player & ~now.blocks  # on a block the current yield is empty
    sources = now.blocks & ~now.siphoned
    program_sources = sources & now.program_blocks
    data_sources = sources & ~now.program_blocks
    open_sources = ~now.blocks & ~now.siphoned

    def compare(given: Number, same: Cells, gives: Array) -> tuple[Cells, Array]:
        for digit in given:
            has_digit = bb.overlaps(digit, here)
            same = same & bb.select(has_digit, digit, ~digit)
            gives = gives | has_digit
        return same, gives

    # loops, so that the compiler has only one traced body to work on
    def compare_points(i: Array, state: tuple[Cells, Array]) -> tuple[Cells, Array]:
        return compare(bb.cross_sum((data_sources & bb.equals(now.points, i + 1),)), *state)

    def compare_program(row: Array, state: tuple[Cells, Array]) -> tuple[Cells, Array]:
        new = (now.owned_programs >> jnp.asarray(row, jnp.uint32)) & 1 == 0
        return compare((bb.cross(program_sources & bb.equals(now.content, row)).where(new),), *state)

    everywhere = here | ~here
    state = repeat(tables.MAX_POINTS, compare_points, (everywhere, jnp.zeros(now.hp.shape, bool)), unrolled=_AT_ONCE)
    same_blocks, gives_blocks = repeat(rules.NUM_PROGRAMS, compare_program, state, unrolled=_AT_ONCE)

    # a better cell must reach every unsiphoned block that the current cross reaches, if that gives anything
    required = bb.cross(here) & sources
    reaches_all = bb.ALL
    for move in bb.DIRECTIONS:
        needed = move(here) & required
        # the cells whose cross contains the needed cell
        reaches_all = reaches_all & bb.select(bb.is_any(needed), bb.cross(needed), bb.ALL)
    reaches_all = bb.select(gives_blocks, reaches_all, bb.ALL)

    credits = bb.cross_sum(tuple(plane & open_sources for plane in now.cell_credits))
    energy = bb.cross_sum(tuple(plane & open_sources for plane in now.cell_energy))
    credits_here, energy_here = bb.total(credits, here), bb.total(energy, here)
    fewer_credits, more_credits = _compare(credits, credits_here)
    fewer_energy, more_energy = _compare(energy, energy_here)
    better = ~now.blocks & same_blocks & reaches_all & ~fewer_credits & ~fewer_energy & (more_credits | more_energy)
    more_there = jnp.maximum(_largest(credits, better) - credits_here, 0)
    return more_there + jnp.maximum(_largest(energy, better) - energy_here, 0)


def _compare(number: Number, reference: Array) -> tuple[Cells, Cells]:
    """The cells whose value is below, and those whose value is above, a reference value (int32 per game)."""
    less, more = bb.EMPTY, bb.EMPTY
    undecided = bb.ALL
    for digit in reversed(range(len(number))):
        bit = (reference >> digit) & 1 == 1
        plane = number[digit]
        less = less | (undecided & ~plane).where(bit)
        more = more | (undecided & plane).where(~bit)
        undecided = undecided & bb.select(bit, plane, ~plane)
    return less, more


def _largest(number: Number, cells: Cells) -> Array:
    """The largest value over a set of cells (int32; 0 for an empty set)."""
    largest = jnp.int32(0)
    for digit in reversed(range(len(number))):
        with_digit = cells & number[digit]
        has = bb.is_any(with_digit)
        cells = bb.select(has, with_digit, cells)
        largest = largest + (has.astype(jnp.int32) << digit)
    return largest

"""Siphoning (S1-S5) and what a better siphon would have given (W2)."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.beings import saturating
from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.marks import note
from hackmatrix.jax_env.state import Snapshot


def siphon(now: Snapshot, wanted: Array) -> Snapshot:
    """Siphon the cross around the player in the games where ``wanted`` (bool) holds."""
    player = bb.single(now.player).where(wanted)
    handled = bb.cross(player) & ~now.siphoned  # S1
    blocks, open_cells = handled & now.blocks, handled & ~now.blocks
    data = blocks & ~now.program_blocks
    program_cells = blocks & now.program_blocks
    gained = programs_in(now, program_cells)
    limit = tables.MAX_COUNTER
    interval = jnp.maximum(now.interval, jnp.uint32(5)) - jnp.uint32(1)
    score = now.score + bb.total(now.points, data)
    pending = now.pending + bb.total(now.spawn, blocks)
    credits = now.credits + bb.total(now.cell_credits, open_cells)
    energy = now.energy + bb.total(now.cell_energy, open_cells)

    def conditions() -> dict[str, Array]:
        new = lax.population_count(gained & ~now.programs).astype(jnp.int32)
        return {
            "S1.edge": wanted & (bb.count(bb.cross(player)) < 5),
            "S1.skipped": bb.overlaps(bb.cross(player), now.siphoned),
            "S2.data": bb.is_any(data),
            "S2.program": new > 0,
            "S2.alreadyOwned": bb.count(program_cells) > new,
            "S2.question": bb.overlaps(blocks, now.questions),
            "S2.ownCell": bb.overlaps(player, now.blocks),
            "S3.credits": bb.overlaps(open_cells, bb.is_nonzero(now.cell_credits)),
            "S3.energy": bb.overlaps(open_cells, bb.is_nonzero(now.cell_energy)),
            "S3.pickupStays": bb.overlaps(open_cells, now.pickups),
            "S4.centre": bb.is_any(player & ~now.centres),
            "S4.centreAgain": bb.overlaps(player, now.centres),
            "S5": wanted & (now.interval > 4),
            "S5.floor": wanted & (now.interval <= 4),
            "A7.saturated": wanted & ((score > limit) | (pending > limit) | (credits > limit) | (energy > limit)),
        }

    note(conditions)
    return now._replace(
        # S2
        score=saturating(score, limit),
        programs=now.programs | gained,
        questions=now.questions & ~blocks,
        pending=saturating(pending, limit),
        spawn=bb.clear(now.spawn, blocks),
        # S3
        credits=saturating(credits, limit),
        energy=saturating(energy, limit),
        cell_credits=bb.clear(now.cell_credits, open_cells),
        cell_energy=bb.clear(now.cell_energy, open_cells),
        # S4
        siphoned=now.siphoned | handled,
        centres=now.centres | player,
        # S5
        siphons=now.siphons - wanted.astype(jnp.int32),
        interval=jnp.where(wanted, interval, now.interval),
        next_spawn=now.next_spawn + jnp.where(wanted, jnp.uint32(5), jnp.uint32(0)),
    )


def programs_in(now: Snapshot, cells: Cells) -> Array:
    """The programs that blocks of at most five cells hold: bit p (uint32) for row p of table P."""
    here = cells & now.program_blocks
    owned = jnp.zeros(now.programs.shape, jnp.uint32)
    for _ in range(5):  # a cross has no more
        cell = bb.lowest(here)
        bit = jnp.uint32(1) << bb.value_at(now.content, cell).astype(jnp.uint32)
        owned = owned | jnp.where(bb.is_any(cell), bit, 0)
        here = here & ~cell
    return owned


class Missed(NamedTuple):
    """Credits and energy that the best better cell would have given on top (W2; int32)."""

    credits: Array
    energy: Array


def missed_by_siphon(now: Snapshot) -> Missed:
    """What a siphon in the player's cell misses, compared with the cells that are better (W2)."""
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

    # loops, because one traced body is all that the compiler then has to work on
    def compare_points(i: Array, state: tuple[Cells, Array]) -> tuple[Cells, Array]:
        return compare(bb.cross_sum((data_sources & bb.equals(now.points, i + 1),)), *state)

    def compare_program(row: Array, state: tuple[Cells, Array]) -> tuple[Cells, Array]:
        new = (now.programs >> jnp.asarray(row, jnp.uint32)) & 1 == 0
        return compare((bb.cross(program_sources & bb.equals(now.content, row)).where(new),), *state)

    everywhere = here | ~here
    state = (everywhere, jnp.zeros(now.hp.shape, bool))
    state = lax.fori_loop(0, 9, compare_points, state)
    same_blocks, gives_blocks = lax.fori_loop(0, tables.NUM_PROGRAMS, compare_program, state)

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
    return Missed(
        jnp.maximum(_largest(credits, better) - credits_here, 0), jnp.maximum(_largest(energy, better) - energy_here, 0)
    )


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

"""Stage generation (B2-B8): a new board around the player, enemies and transmissions that stay."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from hackmatrix.jax_env.batching import computed_once
from hackmatrix.jax_env.bitboard import (
    ALL,
    CORNERS,
    Cells,
    Number,
    count,
    index_of,
    is_any,
    is_nonzero,
    lowest,
    neighbours,
    overlaps,
    pack,
    single,
    write,
)
from hackmatrix.jax_env.marks import note
from hackmatrix.jax_env.pathfinding import fill, shortest_path
from hackmatrix.jax_env.random import Site, below, cell_words, pick, word
from hackmatrix.jax_env.spawn import Surroundings, spawn
from hackmatrix.jax_env.state import Seed, Snapshot
from hackmatrix.jax_env.tables import NUM_PROGRAMS, SPAWN_COUNT, spawn_interval

MAX_ATTEMPTS = 100
"""B6: attempts 0-99; after that the stage has no blocks."""
_ATTEMPTS_AT_ONCE = 4
"""Attempts tried side by side: draws have addresses, so later attempts cost no extra rounds of the loop."""
_FEWEST_BLOCKS, _BLOCK_COUNTS, _MOST_BLOCKS = 5, 7, 11


class Needs(NamedTuple):
    """What stage generation depends on."""

    player: Array
    enemies: Cells
    transmissions: Cells
    stage: Array
    seed: Seed
    event: Array


class Board(NamedTuple):
    """What stage generation makes."""

    blocks: Cells
    questions: Cells
    program_blocks: Cells
    points: Number
    content: Number
    spawn: Number
    cell_credits: Number
    cell_energy: Number
    pickups: Cells
    exit: Array
    new_transmissions: Cells
    new_kind: Number
    closest: Array


class _Layout(NamedTuple):
    attempt: Array
    blocks: Cells


def is_valid_placement(blocks: Cells, exit_cell: Cells) -> Array:
    """B6: (a) the open cells are connected without the exit, which has an open neighbour; (b) no block is walled in."""
    open_cells = ~(blocks | exit_cell)
    connected = ~is_any(open_cells & ~fill(lowest(open_cells), open_cells))
    exit_open = overlaps(neighbours(exit_cell), open_cells)
    none_walled_in = ~is_any(blocks & ~neighbours(~blocks))
    return connected & exit_open & none_walled_in


def _how_many(seed: Seed, event: Array, attempt: Array) -> Array:
    return _FEWEST_BLOCKS + below(word(seed, event, Site.BLOCK_COUNT, attempt), _BLOCK_COUNTS)


def _place_blocks(free: Cells, exit_cell: Cells, seed: Seed, event: Array, attempt: Array) -> tuple[Cells, Array]:
    """B4: the blocks of one attempt, and whether B6 accepts them."""
    how_many = _how_many(seed, event, attempt)
    words = cell_words(seed, event, Site.BLOCK_CELL, attempt)

    def take(i: Array, blocks: Cells) -> Cells:
        return blocks | pick((free & ~blocks).where(i < how_many), words)

    blocks = lax.fori_loop(0, _MOST_BLOCKS, take, free ^ free)
    return blocks, is_valid_placement(blocks, exit_cell)


def _layout(free: Cells, exit_cell: Cells, seed: Seed, event: Array) -> _Layout:
    """B4 and B6: the first valid attempt, or no blocks. Several attempts run at once on a new leading axis."""

    def wide(leaf: Array) -> Array:
        return jnp.broadcast_to(leaf, (_ATTEMPTS_AT_ONCE, *event.shape))

    free_wide, exit_wide, seed_wide, event_wide = jax.tree.map(wide, (free, exit_cell, seed, event))
    offsets = jnp.arange(_ATTEMPTS_AT_ONCE, dtype=jnp.uint32).reshape((-1,) + (1,) * event.ndim)

    def body(state: tuple[Array, Array, _Layout]) -> tuple[Array, Array, _Layout]:
        start, done, layout = state
        attempts = start + wide(offsets)
        blocks, valid = _place_blocks(free_wide, exit_wide, seed_wide, event_wide, attempts)
        for k in range(_ATTEMPTS_AT_ONCE):
            accept = valid[k] & ~done
            candidate = _Layout(attempts[k], Cells(blocks.low[k], blocks.high[k]))
            layout = jax.tree.map(lambda new, old, accept=accept: jnp.where(accept, new, old), candidate, layout)
            done = done | accept
        return start + np.uint32(_ATTEMPTS_AT_ONCE), done, layout

    nothing = _Layout(jnp.zeros_like(event), free ^ free)
    state = (jnp.uint32(0), jnp.zeros(event.shape, bool), nothing)
    _, found, layout = lax.while_loop(lambda s: (s[0] < MAX_ATTEMPTS) & jnp.any(~s[1]), body, state)
    note(
        lambda: {
            "B4.fewer": found & (count(layout.blocks) < _how_many(seed, event, layout.attempt)),
            "B6.valid": found,
            "B6.redrawn": ~found | (layout.attempt > 0),
            "B6.exhausted": ~found,
        }
    )
    return layout


class _Contents(NamedTuple):
    left: Cells
    used: Array
    questions: Cells
    program_blocks: Cells
    points: Number
    content: Number
    spawn: Number


def _nth_unused(used: Array, n: Array) -> Array:
    """The n-th (from 0) program, in table order, whose bit in ``used`` is off (int32)."""
    seen = jnp.zeros_like(n)
    chosen = jnp.zeros_like(n)
    for program in range(NUM_PROGRAMS):
        unused = (used >> np.uint32(program)) & 1 == 0
        chosen = jnp.where(unused & (seen == n), program, chosen)
        seen = seen + unused.astype(jnp.int32)
    return chosen


class _Block(NamedTuple):
    is_question: Array
    is_program: Array
    points: Array
    program: Array
    spawn: Array


def _draw_block(used: Array, seed: Seed, event: Array, index: Array) -> _Block:
    """B5: what one block holds; all its draws have the same index."""
    is_question = below(word(seed, event, Site.QUESTION, index), 10) == 0
    is_program = below(word(seed, event, Site.DATA, index), 2) != 0
    points = 1 + below(word(seed, event, Site.POINTS, index), 9)
    left_over = NUM_PROGRAMS - lax.population_count(used)
    program = _nth_unused(used, below(word(seed, event, Site.PROGRAM, index), left_over))
    return _Block(
        is_question, is_program, points, program, jnp.where(is_program, jnp.asarray(SPAWN_COUNT)[program], points)
    )


def _fill_blocks(layout: _Layout, seed: Seed, event: Array) -> _Contents:
    """B5: what the blocks hold, in row-major order."""
    none = layout.blocks ^ layout.blocks
    start = _Contents(layout.blocks, jnp.zeros_like(event), none, none, (none,) * 4, (none,) * 5, (none,) * 4)

    def body(c: _Contents) -> _Contents:
        cell = lowest(c.left)
        index = layout.attempt * np.uint32(36) + index_of(cell)
        block = computed_once(jnp.any(is_any(cell)), _draw_block, c.used, seed, event, index)
        program_cell = cell.where(block.is_program)
        return _Contents(
            left=c.left & ~cell,
            used=c.used | jnp.where(is_any(program_cell), jnp.uint32(1) << block.program.astype(jnp.uint32), 0),
            questions=c.questions | cell.where(block.is_question),
            program_blocks=c.program_blocks | program_cell,
            points=write(c.points, cell.where(~block.is_program), block.points),
            content=write(c.content, program_cell, block.program),
            spawn=write(c.spawn, cell, block.spawn),
        )

    return lax.while_loop(lambda c: jnp.any(is_any(c.left)), body, start)


def _resources(cells: Cells, seed: Seed, event: Array) -> tuple[Number, Number]:
    """B7: the credits and the energy of the cells without block and exit."""
    amount = below(cell_words(seed, event, Site.AMOUNT), 20)
    is_energy = below(cell_words(seed, event, Site.RESOURCE), 2) == 1
    # 0-8 give 1, 9-17 give 2, 18-19 give 3: the two binary digits of the amount
    digits = (pack((amount < 9) | (amount >= 18)) & cells, pack(amount >= 9) & cells)
    energy = pack(is_energy)
    return (digits[0] & ~energy, digits[1] & ~energy), (digits[0] & energy, digits[1] & energy)


def generate(needs: Needs) -> Board:
    """B3-B8: the board of a new stage. Every leaf of ``needs`` has the batch shape, and so has every leaf made."""
    seed, event = needs.seed, needs.event
    player = single(needs.player)
    exit_cell = pick(CORNERS & ~player, cell_words(seed, event, Site.EXIT))
    free = ALL & ~(CORNERS | player | needs.enemies | needs.transmissions)
    layout = _layout(free, exit_cell, seed, event)
    contents = _fill_blocks(layout, seed, event)
    cell_credits, cell_energy = _resources(~(layout.blocks | exit_cell), seed, event)
    around = Surroundings(player, needs.enemies, layout.blocks)
    note(lambda: _conditions(needs, layout, contents, cell_credits, cell_energy))
    made = spawn(around, needs.transmissions, seed, event, Site.STAGE_CELL, needs.stage)
    return Board(
        blocks=layout.blocks,
        questions=contents.questions,
        program_blocks=contents.program_blocks,
        points=contents.points,
        content=contents.content,
        spawn=contents.spawn,
        cell_credits=cell_credits,
        cell_energy=cell_energy,
        pickups=CORNERS & ~(player | exit_cell),
        exit=index_of(exit_cell),
        new_transmissions=made.cells,
        new_kind=made.kind,
        closest=shortest_path(player, exit_cell, layout.blocks).length,
    )


def _conditions(
    needs: Needs, layout: _Layout, contents: _Contents, cell_credits: Number, cell_energy: Number
) -> dict[str, Array]:
    beings = needs.enemies | needs.transmissions
    always = jnp.ones(needs.player.shape, bool)
    programs, data = layout.blocks & contents.program_blocks, layout.blocks & ~contents.program_blocks
    return {
        **dict.fromkeys(("B2", "B3", "B4", "B8"), always),
        "B2.survivors": is_any(beings),
        "B3.occupied": overlaps(CORNERS & ~single(needs.player), beings),
        "B5.data": is_any(data & ~contents.questions),
        "B5.program": is_any(programs & ~contents.questions),
        "B5.questionData": overlaps(data, contents.questions),
        "B5.questionProgram": overlaps(programs, contents.questions),
        "B7.credits": is_any(is_nonzero(cell_credits)),
        "B7.energy": is_any(is_nonzero(cell_energy)),
    }


def enter(now: Snapshot, board: Board) -> Snapshot:
    """B2, B8: the snapshot at the start of the generated stage; player, enemies and transmissions stay."""
    new = board.new_transmissions
    interval = spawn_interval(now.stage).astype(jnp.uint32)
    off = jnp.zeros_like(now.show)
    none = new ^ new
    return now._replace(
        blocks=board.blocks,
        questions=board.questions,
        program_blocks=board.program_blocks,
        points=board.points,
        content=board.content,
        spawn=board.spawn,
        cell_credits=board.cell_credits,
        cell_energy=board.cell_energy,
        siphoned=none,
        centres=none,
        pickups=board.pickups,
        exit=board.exit,
        transmissions=now.transmissions | new,
        kind=tuple(old | plane for old, plane in zip(now.kind, board.new_kind, strict=True)),
        timer=write(now.timer, new, 1),
        turn=jnp.zeros_like(now.turn),
        show=off,
        calm=off,
        step=off,
        attack_boosts=jnp.zeros_like(now.attack_boosts),
        interval=interval,
        next_spawn=interval,
        pending=jnp.zeros_like(now.pending),
        closest=board.closest,
    )

"""Stage generation (B2-B8): a new board around the player, enemies and transmissions that stay."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.bitboard import Cells, Number
from hackmatrix.jax_env.pathfinding import fill, shortest_path
from hackmatrix.jax_env.random import Site, cell_index, cell_words, note_cells, note_word, pack, pick, pick_several
from hackmatrix.jax_env.spawn import spawn
from hackmatrix.jax_env.state import BLANK_SNAPSHOT, Snapshot
from hackmatrix.jax_env.tables import MAX_POINTS, SPAWN_COUNT, scheduled_task_interval
from hackmatrix.rules import NUM_PROGRAMS
from rlworldkit.jax.batching import computed_once, while_loop
from rlworldkit.jax.marks import mark
from rlworldkit.jax.threefry import EventDraws, below

MAX_ATTEMPTS = 100
"""B6: attempts 0-99; after that the stage has no blocks."""
_ATTEMPTS_AT_ONCE = 4
"""Attempts made at once, which saves loop iterations: draws have addresses, so attempts do not depend on each other."""
_FEWEST_BLOCKS, _BLOCK_COUNTS, _MOST_BLOCKS = 5, 7, 11


class Needs(NamedTuple):
    """Inputs of stage generation."""

    player: Array
    enemies: Cells
    transmissions: Cells
    stage: Array
    draws: EventDraws


class _Contents(NamedTuple):
    """Contents of blocks, under the names of a snapshot."""

    questions: Cells
    program_blocks: Cells
    points: Number
    content: Number
    spawn_count: Number


class _Layout(NamedTuple):
    attempt: Array
    blocks: Cells


def is_valid_placement(blocks: Cells, exit_cell: Cells) -> Array:
    """B6: (a) the open cells are connected without the exit, which has an open neighbour; (b) no block is walled in."""
    open_cells = ~(blocks | exit_cell)
    connected = ~bb.is_any(open_cells & ~fill(bb.lowest(open_cells), open_cells))
    exit_open = bb.overlaps(bb.neighbours(exit_cell), open_cells)
    none_walled_in = ~bb.is_any(blocks & ~bb.neighbours(~blocks))
    return connected & exit_open & none_walled_in


def _how_many(word: Array) -> Array:
    return _FEWEST_BLOCKS + below(word, _BLOCK_COUNTS)


def _place_blocks(free: Cells, exit_cell: Cells, draws: EventDraws, attempt: Array, done: Array) -> tuple[Cells, Array]:
    """B4: the blocks of several attempts, and whether B6 accepts each; done: an earlier attempt was accepted."""
    word = draws.word(Site.BLOCK_COUNT, attempt)
    how_many, words = _how_many(word), cell_words(draws, Site.BLOCK_CELL, attempt)
    blocks = pick_several(free, words, how_many, _MOST_BLOCKS)
    valid = is_valid_placement(blocks, exit_cell)

    def tried() -> Array:
        return ~done & (jnp.cumsum(valid, axis=0) == valid)  # up to the first valid one

    note_word(draws, Site.BLOCK_COUNT, attempt, word, tried)
    note_cells(draws, Site.BLOCK_CELL, words, lambda: free.where(tried()), attempt)
    return blocks, valid


def _layout(free: Cells, exit_cell: Cells, draws: EventDraws) -> _Layout:
    """B4 and B6: the first valid attempt, or no blocks. Several attempts run at once on a new leading axis."""
    batch = free.word.shape

    def wide(leaf: Array) -> Array:
        return jnp.broadcast_to(leaf, (_ATTEMPTS_AT_ONCE, *batch))

    free_wide, exit_wide, draws_wide = jax.tree.map(wide, (free, exit_cell, draws))
    offsets = jnp.arange(_ATTEMPTS_AT_ONCE, dtype=jnp.uint32).reshape((-1,) + (1,) * len(batch))

    def body(state: tuple[Array, Array, _Layout]) -> tuple[Array, Array, _Layout]:
        start, done, layout = state
        attempts = start + wide(offsets)
        blocks, valid = _place_blocks(free_wide, exit_wide, draws_wide, attempts, done)
        for k in range(_ATTEMPTS_AT_ONCE):
            accept = valid[k] & ~done
            candidate = _Layout(attempts[k], Cells(blocks.word[k]))
            layout = jax.tree.map(lambda new, old, accept=accept: jnp.where(accept, new, old), candidate, layout)
            done = done | accept
        return start + np.uint32(_ATTEMPTS_AT_ONCE), done, layout

    nothing = _Layout(jnp.zeros(batch, jnp.uint32), free ^ free)
    state = (jnp.uint32(0), jnp.zeros(batch, bool), nothing)
    _, found, layout = while_loop(lambda s: (s[0] < MAX_ATTEMPTS) & jnp.any(~s[1]), body, state)
    mark(
        "B4.fewer", lambda: found & (bb.count(layout.blocks) < _how_many(draws.word(Site.BLOCK_COUNT, layout.attempt)))
    )
    mark("B6.valid", lambda: found)
    mark("B6.redrawn", lambda: ~found | (layout.attempt > 0))
    mark("B6.exhausted", lambda: ~found)
    return layout


def _nth_unused(used: Array, n: Array) -> Array:
    """The n-th (from 0) program, in table order, whose bit in ``used`` is off (int32)."""
    left = ~used
    for program in range(NUM_PROGRAMS - 1):
        left = jnp.where(program < n, left & (left - np.uint32(1)), left)  # clears the lowest bit
    return lax.population_count(~left & (left - np.uint32(1))).astype(jnp.int32)


def _draw_block(is_block: Array, used: Array, draws: EventDraws, index: Array) -> tuple[Array, ...]:
    """B5: content of one block, drawn at one index: is it a question, is it a program, points, program, spawn count."""
    sites = np.array([Site.QUESTION, Site.DATA, Site.POINTS, Site.PROGRAM], np.uint32)
    question, data, point, unused = draws.word(jnp.asarray(sites).reshape(-1, *(1,) * index.ndim), index)
    is_program = below(data, 2) != 0
    note_word(draws, Site.QUESTION, index, question, lambda: is_block)
    note_word(draws, Site.DATA, index, data, lambda: is_block)
    note_word(draws, Site.POINTS, index, point, lambda: is_block & ~is_program)
    note_word(draws, Site.PROGRAM, index, unused, lambda: is_block & is_program)
    points = 1 + below(point, MAX_POINTS)
    program = _nth_unused(used, below(unused, NUM_PROGRAMS - lax.population_count(used)))
    spawn_count = jnp.where(is_program, jnp.asarray(SPAWN_COUNT)[program], points)
    return below(question, 10) == 0, is_program, points, program, spawn_count


def _fill_blocks(layout: _Layout, draws: EventDraws) -> _Contents:
    """B5: what the blocks hold, in row-major order."""
    none = layout.blocks ^ layout.blocks
    blank = {name: getattr(BLANK_SNAPSHOT, name) for name in _Contents._fields}

    def body(state: tuple[Cells, Array, _Contents]) -> tuple[Cells, Array, _Contents]:
        left, used, made = state
        cell = bb.lowest(left)
        index = cell_index(layout.attempt, bb.index_of(cell))
        is_block = bb.is_any(cell)
        some_left = jnp.any(is_block)
        draw = partial(_draw_block, is_block)
        is_question, is_program, points, program, spawn = computed_once(some_left, draw, used, draws, index)
        program_cell = cell.where(is_program)
        used = used | jnp.where(bb.is_any(program_cell), jnp.uint32(1) << program.astype(jnp.uint32), 0)
        contents = _Contents(
            questions=made.questions | cell.where(is_question),
            program_blocks=made.program_blocks | program_cell,
            points=bb.write(made.points, cell.where(~is_program), points),
            content=bb.write(made.content, program_cell, program),
            spawn_count=bb.write(made.spawn_count, cell, spawn),
        )
        return left & ~cell, used, contents

    start = (layout.blocks, jnp.zeros_like(layout.attempt), jax.tree.map(lambda _: none.word, _Contents(**blank)))
    contents = while_loop(lambda state: jnp.any(bb.is_any(state[0])), body, start)[2]
    mark("B5.data", lambda: bb.is_any(layout.blocks & ~contents.program_blocks & ~contents.questions))
    mark("B5.program", lambda: bb.is_any(contents.program_blocks & ~contents.questions))
    mark("B5.questionData", lambda: bb.is_any(contents.questions & ~contents.program_blocks))
    mark("B5.questionProgram", lambda: bb.overlaps(contents.questions, contents.program_blocks))
    return contents


def _resources(cells: Cells, draws: EventDraws) -> tuple[Number, Number]:
    """B7: the credits and the energy of the cells without block and exit."""
    words = {site: cell_words(draws, site) for site in (Site.AMOUNT, Site.RESOURCE)}
    for site in words:
        note_cells(draws, site, words[site], lambda: cells)
    amount = below(words[Site.AMOUNT], 20)
    is_energy = below(words[Site.RESOURCE], 2) == 1
    # 0-8 give 1, 9-17 give 2, 18-19 give 3: the two binary digits of the amount
    digits = (pack((amount < 9) | (amount >= 18)) & cells, pack(amount >= 9) & cells)
    in_energy = pack(is_energy)
    credits = (digits[0] & ~in_energy, digits[1] & ~in_energy)
    energy = (digits[0] & in_energy, digits[1] & in_energy)
    mark("B7.credits", lambda: bb.is_any(bb.is_nonzero(credits)))
    mark("B7.energy", lambda: bb.is_any(bb.is_nonzero(energy)))
    return credits, energy


def generate(needs: Needs) -> tuple[dict[str, Any], Cells, Number]:
    """B2-B8: the board of a new stage. Every leaf of ``needs`` has the batch shape, and so has every leaf made.

    Returns fields of a snapshot, and the cells and types of the new transmissions.
    """
    draws, player = needs.draws, bb.single(needs.player)
    beings = needs.enemies | needs.transmissions

    def always() -> Array:
        return jnp.ones(needs.player.shape, bool)

    mark("B2", always)
    mark("B2.survivors", lambda: bb.is_any(beings))
    corners, words = bb.CORNERS & ~player, cell_words(draws, Site.EXIT)
    exit_cell = pick(corners, words)  # B3
    note_cells(draws, Site.EXIT, words, lambda: corners)
    mark("B3", always)
    mark("R5.cell", always)
    mark("B3.occupied", lambda: bb.overlaps(corners, beings))
    free = bb.ALL & ~(bb.CORNERS | player | beings)  # B4
    layout = _layout(free, exit_cell, draws)
    mark("B4", always)
    mark("R5.below", always)
    mark("R5.distinct", always)
    contents = _fill_blocks(layout, draws)
    cell_credits, cell_energy = _resources(~(layout.blocks | exit_cell), draws)
    stoppers = needs.enemies | layout.blocks
    made = spawn(player, stoppers, needs.transmissions, draws, Site.STAGE_CELL, needs.stage)  # B8
    mark("B8", always)
    board = {
        "blocks": layout.blocks,
        **contents._asdict(),
        "cell_credits": cell_credits,
        "cell_energy": cell_energy,
        "pickups": bb.CORNERS & ~(player | exit_cell),
        "exit": bb.index_of(exit_cell),
        "closest_approach": shortest_path(player, exit_cell, layout.blocks)[1],
    }
    return board, made.cells, made.enemy_type


def enter(now: Snapshot, board: dict[str, Any], new: Cells, new_types: Number) -> Snapshot:
    """B2, B8: the snapshot at the start of a stage that was generated; player, enemies and transmissions stay."""
    interval = scheduled_task_interval(now.stage).astype(jnp.uint32)
    off = jnp.zeros_like(now.show_activated)
    none = new ^ new
    return now._replace(
        **board,
        siphoned=none,
        siphon_centers=none,
        transmissions=now.transmissions | new,
        enemy_type=tuple(old | plane for old, plane in zip(now.enemy_type, new_types, strict=True)),
        timer=bb.write(now.timer, new, 1),
        turn=jnp.zeros_like(now.turn),
        show_activated=off,
        scheduled_tasks_disabled=off,
        step_active=off,
        atk_plus_uses=jnp.zeros_like(now.atk_plus_uses),
        scheduled_task_interval=interval,
        next_scheduled_task_turn=interval,
        pending_siphon_transmissions=jnp.zeros_like(now.pending_siphon_transmissions),
    )

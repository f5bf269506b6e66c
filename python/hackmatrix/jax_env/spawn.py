"""Spawning transmissions (C6), which B8, E10 and E11 do."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env.bitboard import DIRECTIONS, EMPTY, Cells, Number, count, is_any, select
from hackmatrix.jax_env.random import Site, cell_words, note_cells, note_word, pick
from hackmatrix.jax_env.state import BLANK_SNAPSHOT
from rlworldkit.jax.batching import while_loop
from rlworldkit.jax.marks import mark
from rlworldkit.jax.threefry import EventDraws, below


class SpawnResult(NamedTuple):
    """The transmissions made so far: their cells and types."""

    cells: Cells
    enemy_type: Number
    scheduled: Cells
    """The scheduled transmission of E10, if any."""


def line_of_fire(player: Cells, stoppers: Cells) -> Cells:
    """The cells in the player's row or column with no stopper strictly between (C6)."""
    seen = EMPTY
    for move in DIRECTIONS:
        ray = move(player)
        for _ in range(rules.SIZE - 2):
            ray = ray | move(ray & ~stoppers)
        seen = seen | ray
    return seen


def spawn(
    player: Cells,
    stoppers: Cells,
    transmissions: Cells,
    draws: EventDraws,
    cell_site: int,
    how_many: Array,
    scheduled: Array | None = None,
) -> SpawnResult:
    """Place transmissions one after another, each on a cell that C6 allows.

    ``stoppers`` are the enemies and blocks. ``how_many`` (int32) transmissions draw at ``cell_site`` with j = 0, 1, …;
    where ``scheduled`` (bool) holds, one more goes first and draws at the site of E10. Transmissions that find no empty
    cell are dropped.
    """
    first = jnp.zeros_like(how_many) if scheduled is None else scheduled.astype(jnp.int32)
    in_all = how_many + first

    def empty(made: SpawnResult) -> Cells:
        return ~(player | stoppers | transmissions | made.cells)

    def wanted(i: Array, made: SpawnResult) -> Array:
        return (i < in_all) & is_any(empty(made))

    def body(state: tuple[Array, SpawnResult]) -> tuple[Array, SpawnResult]:
        i, made = state
        is_wanted, is_scheduled = wanted(i, made), i < first
        site = jnp.where(is_scheduled, jnp.uint32(Site.SCHEDULE_CELL), jnp.uint32(cell_site))
        j = jnp.where(is_scheduled, 0, i - first).astype(jnp.uint32)
        hidden = empty(made) & ~line_of_fire(player, stoppers)
        choices = select(is_any(hidden), hidden, empty(made)).where(is_wanted)
        mark("C6.covered", lambda: is_wanted & is_any(hidden))
        mark("C6.exposed", lambda: is_any(choices) & ~is_any(hidden))
        words = cell_words(draws, site, j)
        cell = pick(choices, words)
        mark("R5.cell", lambda: is_any(choices))
        # every TYPE site follows its CELL site in the table of R5
        type_word = draws.word(site + 1, j)
        enemy_type = below(type_word, len(rules.ENEMIES))

        def note(site: int, chosen: Callable[[], Cells]) -> None:
            note_cells(draws, site, words, chosen, j)
            note_word(draws, Site(site + 1), j, type_word, lambda: is_any(chosen()))

        note(Site.SCHEDULE_CELL, lambda: choices.where(is_scheduled))
        note(cell_site, lambda: choices.where(~is_scheduled))
        mark("R5.below", lambda: is_any(choices))
        types = tuple(plane | cell.where((enemy_type >> digit) & 1 == 1) for digit, plane in enumerate(made.enemy_type))
        return i + 1, SpawnResult(made.cells | cell, types, made.scheduled | cell.where(is_scheduled))

    nothing = transmissions ^ transmissions
    start = (jnp.int32(0), SpawnResult(nothing, (nothing,) * len(BLANK_SNAPSHOT.enemy_type), nothing))
    made = while_loop(lambda state: jnp.any(wanted(*state)), body, start)[1]
    mark("C6.dropped", lambda: in_all > count(made.cells))
    mark("R5.cell", lambda: in_all > count(made.cells))  # a cell was asked for, though none was empty
    return made

"""Spawning transmissions (C6), which B8, E10 and E11 do."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env.bitboard import DIRECTIONS, EMPTY, Cells, Number, count, is_any, select
from hackmatrix.jax_env.random import Site, cell_words, pick
from hackmatrix.jax_env.state import BLANK_SNAPSHOT
from worldkit.jax.batching import while_loop
from worldkit.jax.marks import mark
from worldkit.jax.threefry import Draws, below


class Surroundings(NamedTuple):
    """State that decides where a transmission can appear."""

    player: Cells
    enemies: Cells
    blocks: Cells


class Spawned(NamedTuple):
    """The transmissions made so far: their cells and types."""

    cells: Cells
    enemy_type: Number
    scheduled: Cells
    """The one of E10, if any."""


def line_of_fire(player: Cells, stoppers: Cells) -> Cells:
    """The cells in the player's row or column with no stopper strictly between (C6)."""
    seen = EMPTY
    for move in DIRECTIONS:
        ray = move(player)
        for _ in range(rules.SIZE - 2):
            ray = ray | move(ray & ~stoppers)
        seen = seen | ray
    return seen


class _Item(NamedTuple):
    """Which transmission is to be placed next in each game."""

    wanted: Array
    is_scheduled: Array
    site: Array
    """The site of its cell (uint32)."""
    j: Array


def _spawn_one(around: Surroundings, taken: Cells, made: Spawned, draws: Draws, item: _Item) -> Spawned:
    empty = ~(around.player | around.enemies | around.blocks | taken | made.cells)
    hidden = empty & ~line_of_fire(around.player, around.enemies | around.blocks)
    choices = select(is_any(hidden), hidden, empty).where(item.wanted)
    mark("C6.covered", lambda: item.wanted & is_any(hidden))
    mark("C6.exposed", lambda: is_any(choices) & ~is_any(hidden))
    cell = pick(choices, cell_words(draws, item.site, item.j))
    mark("R5.cell", lambda: is_any(choices))
    # every TYPE site follows its CELL site in the table of R5
    enemy_type = below(draws.word(item.site + 1, item.j), len(rules.ENEMIES))
    mark("R5.below", lambda: is_any(choices))
    planes = tuple(plane | cell.where((enemy_type >> digit) & 1 == 1) for digit, plane in enumerate(made.enemy_type))
    return Spawned(made.cells | cell, planes, made.scheduled | cell.where(item.is_scheduled))


def spawn(
    around: Surroundings,
    transmissions: Cells,
    draws: Draws,
    cell_site: Array | int,
    how_many: Array,
    scheduled: Array | None = None,
) -> Spawned:
    """Place transmissions one after another, each on a cell that C6 allows.

    ``how_many`` (int32) of them draw at ``cell_site`` with j = 0, 1, …; where ``scheduled`` (bool) holds, one
    more goes first and draws at the site of E10. Those without an empty cell are dropped.
    """
    first = jnp.zeros_like(how_many) if scheduled is None else scheduled.astype(jnp.int32)
    in_all = how_many + first
    cell_site = jnp.asarray(cell_site, jnp.uint32)

    def wanted(i: Array, made: Spawned) -> Array:
        full = ~is_any(~(around.player | around.enemies | around.blocks | transmissions | made.cells))
        return (i < in_all) & ~full

    def body(state: tuple[Array, Spawned]) -> tuple[Array, Spawned]:
        i, made = state
        is_scheduled = i < first
        site = jnp.where(is_scheduled, jnp.uint32(Site.SCHEDULE_CELL), cell_site)
        j = jnp.where(is_scheduled, 0, i - first).astype(jnp.uint32)
        item = _Item(wanted(i, made), is_scheduled, site, j)
        return i + 1, _spawn_one(around, transmissions, made, draws, item)

    nothing = transmissions ^ transmissions
    start = (jnp.int32(0), Spawned(nothing, (nothing,) * len(BLANK_SNAPSHOT.enemy_type), nothing))
    made = while_loop(lambda state: jnp.any(wanted(*state)), body, start)[1]
    mark("C6.dropped", lambda: in_all > count(made.cells))
    mark("R5.cell", lambda: in_all > count(made.cells))  # a cell was asked for, though none was empty
    return made

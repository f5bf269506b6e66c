"""Spawning transmissions (C6)."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hackmatrix.jax_env.batching import while_loop
from hackmatrix.jax_env.bitboard import DIRECTIONS, EMPTY, Cells, Number, count, is_any, select
from hackmatrix.jax_env.marks import note
from hackmatrix.jax_env.random import Site, below, cell_words, pick, word
from hackmatrix.jax_env.state import Seed


class Surroundings(NamedTuple):
    """What decides where a transmission can appear."""

    player: Cells
    enemies: Cells
    blocks: Cells


class Spawned(NamedTuple):
    """The transmissions made so far: their cells and types."""

    cells: Cells
    kind: Number
    scheduled: Cells
    """The one of E10, if any."""


def line_of_fire(player: Cells, stoppers: Cells) -> Cells:
    """The cells in the player's row or column with no stopper strictly between (C6)."""
    seen = EMPTY
    for move in DIRECTIONS:
        ray = move(player)
        for _ in range(4):
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


def _spawn_one(around: Surroundings, taken: Cells, made: Spawned, seed: Seed, event: Array, item: _Item) -> Spawned:
    empty = ~(around.player | around.enemies | around.blocks | taken | made.cells)
    hidden = empty & ~line_of_fire(around.player, around.enemies | around.blocks)
    choices = select(is_any(hidden), hidden, empty).where(item.wanted)
    found = item.wanted & is_any(empty)
    note(lambda: {"C6.covered": found & is_any(hidden), "C6.exposed": found & ~is_any(hidden)})
    cell = pick(choices, cell_words(seed, event, item.site, item.j))
    # every TYPE site follows its CELL site in the table of R5
    kind = below(word(seed, event, item.site + 1, item.j), 4)
    planes = (made.kind[0] | cell.where(kind & 1 == 1), made.kind[1] | cell.where(kind & 2 == 2))
    return Spawned(made.cells | cell, planes, made.scheduled | cell.where(item.is_scheduled))


def spawn(
    around: Surroundings,
    transmissions: Cells,
    seed: Seed,
    event: Array,
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
        return i + 1, _spawn_one(around, transmissions, made, seed, event, item)

    nothing = transmissions ^ transmissions
    start = (jnp.int32(0), Spawned(nothing, (nothing, nothing), nothing))
    made = while_loop(lambda state: jnp.any(wanted(*state)), body, start)[1]
    note(lambda: {"C6.dropped": in_all > count(made.cells)})
    return made

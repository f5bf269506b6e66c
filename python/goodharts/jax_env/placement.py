"""Where things and agents are put: a new episode (G3), what reappears (G5), and who respawns (G6)."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from goodharts.jax_env import grid
from goodharts.jax_env.random import Site, between, drawn_cells
from goodharts.jax_env.tables import NUMBERS
from worldkit.jaxkit.batching import where_wanted, while_loop
from worldkit.jaxkit.marks import mark
from worldkit.jaxkit.threefry import Draws

ATTEMPTS = 64
"""Draws that look for an empty cell, before the lowest one is taken."""
ROUND = 640
"""Draws for places made in one go: one round is enough for the 513 that an episode may need, but for freak keys."""
_CHUNK = 64
"""Games that look at their whole grid side by side: that happens only where it is full."""


class Episode(NamedTuple):
    """What a new episode begins with: planes (n, 512), and int32 (n,)."""

    food: Array
    poison: Array
    cell: Array
    food_count: Array
    poison_count: Array


def new_episode(draws: Draws, *, evaluating: bool) -> Episode:
    """Counts and places by G3."""
    if evaluating:
        shape = draws.event_number.shape
        food = jnp.full(shape, NUMBERS.evaluation_food, jnp.int32)
        poison = jnp.full(shape, NUMBERS.evaluation_poison, jnp.int32)
    else:
        food = between(draws, Site.FOOD_COUNT, NUMBERS.min_food, NUMBERS.max_food)
        poison = between(draws, Site.POISON_COUNT, NUMBERS.min_poison, NUMBERS.max_poison)
    return place(draws, food, poison)


class _Placing(NamedTuple):
    """Places as far as they are drawn. distinct: cells so far, each of which holds something but the agent's."""

    round: Array
    distinct: Array
    food: Array
    poison: Array
    cell: Array


def place(draws: Draws, food_count: Array, poison_count: Array) -> Episode:
    """So much food and poison, and then the agent, in the distinct cells of PLACE in order of first appearance (G3)."""
    items = food_count + poison_count
    mark("G3.place", lambda: jnp.ones(items.shape, bool))

    def one_round(so_far: _Placing) -> _Placing:
        cells = drawn_cells(draws, Site.PLACE, ROUND, so_far.round)
        is_new = _is_first(cells) & ~grid.holds(so_far.food | so_far.poison, cells)
        # of a new cell its rank, from 1; of one drawn again that of the latest new cell
        rank = so_far.distinct[:, None] + jnp.cumsum(is_new, axis=1)
        mark("G3.drawn_again", lambda: jnp.any(~is_new & (rank <= items[:, None]), axis=1))
        is_food = is_new & (rank <= food_count[:, None])
        is_poison = is_new & (rank > food_count[:, None]) & (rank <= items[:, None])
        is_agent = is_new & (rank == items[:, None] + 1)
        return _Placing(
            round=so_far.round + 1,
            distinct=rank[:, -1],
            food=grid.with_cells(so_far.food, cells, is_food),
            poison=grid.with_cells(so_far.poison, cells, is_poison),
            cell=so_far.cell + jnp.sum(jnp.where(is_agent, cells, 0), axis=1),
        )

    nowhere = jnp.zeros((*items.shape, grid.WORDS), jnp.uint32)
    nothing = jnp.zeros_like(items)
    start = _Placing(jnp.int32(0), nothing, nowhere, nowhere, nothing)
    placed = while_loop(lambda so_far: jnp.any(so_far.distinct <= items), one_round, start)
    return Episode(placed.food, placed.poison, placed.cell, food_count, poison_count)


def _is_first(cells: Array) -> Array:
    """Which of the cells (n, ROUND) did not come before in their row, bool."""
    # sorted by cell and then by number, the first of each cell follows another cell
    number = jnp.arange(ROUND, dtype=jnp.int32)
    by_cell = jnp.sort(cells * ROUND + number, axis=1)
    cell = by_cell // ROUND
    is_first = jnp.concatenate([jnp.ones_like(cell[:, :1], bool), cell[:, 1:] != cell[:, :-1]], axis=1)
    games = jnp.arange(len(cells))[:, None]
    return jnp.zeros(cells.shape, bool).at[games, by_cell % ROUND].set(is_first)


class Search(NamedTuple):
    """Where an empty cell is looked for: the cells that are not empty, planes (n, 512), and with which words."""

    taken: Array
    draws: Draws


def first_empty(search: Search, site: Site) -> Array:
    """The first empty cell of a site's draws, else the lowest one: int32 (n,)."""
    cells = drawn_cells(search.draws, site, ATTEMPTS)
    is_free = ~grid.holds(search.taken, cells)
    found, first = jnp.any(is_free, axis=1), jnp.argmax(is_free, axis=1)
    if site == Site.REAPPEAR:
        mark("G5.reappear_later_draw", lambda: found & (first > 0))
        mark("G5.reappear_lowest_cell", lambda: ~found)
    drawn = jnp.take_along_axis(cells, first[:, None], axis=1)[:, 0]
    return where_wanted(~found, lambda taken: grid.lowest(~taken), search.taken, drawn, _CHUNK)

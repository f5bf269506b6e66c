"""Placement of items and agents: new episodes (G3), what reappears (G5), and respawns (G6)."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from goodharts.jax_env import grid
from goodharts.jax_env.random import Site, between, drawn_cells
from goodharts.jax_env.state import State, blank
from goodharts.jax_env.tables import Variant
from goodharts.rules import NUM_CELLS
from rlworldkit.jax.batching import where_wanted, while_loop
from rlworldkit.jax.marks import mark
from rlworldkit.jax.threefry import EventDraws

ATTEMPTS = 64
"""Draws that look for an empty cell before the lowest empty cell is taken."""
ROUND = 544
"""Draws for places per round: one round is enough for the 513 that an episode may need, except with rare keys."""
_CHUNK = 8
"""Chunk of games whose whole grid is searched, which happens only when the grid is nearly full."""


def new_episode(draws: EventDraws, variant: Variant) -> State:
    """Games with counts and places by G3, before a life begins in them."""
    numbers = variant.numbers
    if variant.evaluating:
        shape = draws.event_number.shape
        food = jnp.full(shape, numbers.evaluation_food, jnp.int32)
        poison = jnp.full(shape, numbers.evaluation_poison, jnp.int32)
    else:
        food = between(draws, Site.FOOD_COUNT, numbers.min_food, numbers.max_food)
        poison = between(draws, Site.POISON_COUNT, numbers.min_poison, numbers.max_poison)
    return place(draws, food, poison)


class _Placement(NamedTuple):
    """Placement so far, after some rounds of draws.

    distinct: how many different cells were drawn. earliest: the number of each cell's first draw, int32 (n, 16384).
    planes: the words of food and then the words of poison, uint32 (n, 1024).
    """

    round: Array
    distinct: Array
    earliest: Array
    planes: Array
    cell: Array


def place(draws: EventDraws, food_count: Array, poison_count: Array) -> State:
    """Place food, poison and then the agent in the distinct cells of PLACE, in order of first appearance (G3)."""
    items = food_count + poison_count
    games = jnp.arange(len(items))[:, None]
    mark("G3.place", lambda: jnp.ones(items.shape, bool))

    def one_round(so_far: _Placement) -> _Placement:
        cells = drawn_cells(draws, Site.PLACE, ROUND, so_far.round)
        number = ROUND * so_far.round + jnp.arange(ROUND, dtype=jnp.int32)
        earliest = so_far.earliest.at[games, cells].min(number, mode="promise_in_bounds")
        is_new = earliest.at[games, cells].get(mode="promise_in_bounds") == number
        # for a new cell its rank, from 1; for a cell drawn again the rank of the latest new cell
        rank = so_far.distinct[:, None] + lax.associative_scan(jnp.add, is_new.astype(jnp.int32), axis=1)
        mark("G3.drawn_again", lambda: jnp.any(~is_new & (rank <= items[:, None]), axis=1))
        is_item = is_new & (rank <= items[:, None])
        is_poison = rank > food_count[:, None]
        is_agent = is_new & (rank == items[:, None] + 1)
        words = cells // grid.BITS + jnp.where(is_poison, grid.WORDS, 0)
        bits = jnp.where(is_item, grid.bit(cells), jnp.uint32(0))
        return _Placement(
            round=so_far.round + 1,
            distinct=rank[:, -1],
            earliest=earliest,
            planes=so_far.planes.at[games, words].add(bits, mode="promise_in_bounds"),
            cell=so_far.cell + jnp.sum(jnp.where(is_agent, cells, 0), axis=1),
        )

    nothing = jnp.zeros_like(items)
    start = _Placement(
        round=jnp.int32(0),
        distinct=nothing,
        earliest=jnp.full((*items.shape, NUM_CELLS), np.iinfo(np.int32).max, jnp.int32),
        planes=jnp.zeros((*items.shape, 2 * grid.WORDS), jnp.uint32),
        cell=nothing,
    )
    placed = while_loop(lambda so_far: jnp.any(so_far.distinct <= items), one_round, start)
    food, poison = jnp.split(placed.planes, 2, axis=1)
    state: State = jax.tree.map(jnp.asarray, blank(len(items)))
    state = state._replace(food=food, poison=poison, food_count=food_count, poison_count=poison_count)
    return state._replace(key=draws.seed, event=draws.event_number).at(placed.cell)


def first_empty(state: State, site: Site, games: Array) -> Array:
    """First empty cell of a site's draws, else the lowest empty cell, in these games (k,) of a state: int32 (k,)."""
    cells = drawn_cells(jax.tree.map(lambda leaf: leaf[games], state.draws()), site, ATTEMPTS)
    words = games[:, None], cells // grid.BITS
    is_free = (state.food[words] | state.poison[words]) & grid.bit(cells) == 0
    found, first = jnp.any(is_free, axis=1), jnp.argmax(is_free, axis=1)
    if site == Site.REAPPEAR:
        mark("G5.reappear_later_draw", lambda: found & (first > 0))
        mark("G5.reappear_lowest_cell", lambda: ~found)
    drawn = jnp.take_along_axis(cells, first[:, None], axis=1)[:, 0]
    return where_wanted(~found, partial(_lowest_empty, state), games, drawn, _CHUNK)


def _lowest_empty(state: State, games: Array) -> Array:
    """Lowest empty cell in these games (k,) of a state: int32 (k,)."""
    return grid.lowest(~(state.food[games] | state.poison[games]))

"""Shortest paths as bit floods (E6, E7, W1): each round grows a set of cells by one orthogonal step."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from hackmatrix.jax_env.bitboard import EMPTY, Cells, is_any, neighbours, select

_ROUNDS_PER_ITERATION = 4
"""Several rounds in one loop body: a loop's own cost is that of a few rounds."""


class Reach(NamedTuple):
    """The first round in which a flood met its goals."""

    goals: Cells
    """The goals met in that round: those nearest to the start (empty when none can be reached)."""
    distance: Array
    """Steps from the start to them (int32; 0 when none can be reached, or when the start is one)."""


def nearest(start: Cells, goals: Cells, passable: Cells, wanted: Array) -> Reach:
    """The goals nearest to ``start`` by orthogonal steps over ``passable`` cells.

    The start needs not be passable; goals count only where they are passable. ``wanted`` (bool, batch
    shape) says for which games the answer is needed: the loop ends when those have it.
    """
    found = select(wanted, start & goals, EMPTY)
    state = (start, passable & ~start, found, jnp.zeros(wanted.shape, jnp.int32))

    def searching(frontier: Cells, found: Cells) -> Array:
        return wanted & is_any(frontier) & ~is_any(found)

    def one_round(state: tuple[Cells, Cells, Cells, Array]) -> tuple[Cells, Cells, Cells, Array]:
        frontier, unvisited, found, distance = state
        active = searching(frontier, found)
        frontier = (neighbours(frontier) & unvisited).where(active)
        found = found | (frontier & goals)
        return frontier, unvisited & ~frontier, found, distance + active.astype(jnp.int32)

    def body(state: tuple[Cells, Cells, Cells, Array]) -> tuple[Cells, Cells, Cells, Array]:
        for _ in range(_ROUNDS_PER_ITERATION):
            state = one_round(state)
        return state

    _, _, found, distance = lax.while_loop(lambda s: jnp.any(searching(s[0], s[2])), body, state)
    return Reach(found, jnp.where(is_any(found), distance, 0))


def fill(start: Cells, passable: Cells) -> Cells:
    """All cells that orthogonal steps over ``passable`` reach from ``start`` (which is included)."""

    def body(state: tuple[Cells, Cells]) -> tuple[Cells, Cells]:
        reached, previous = state
        for _ in range(_ROUNDS_PER_ITERATION):
            reached, previous = reached | (neighbours(reached) & passable), reached
        return reached, previous

    grew = lambda state: jnp.any(is_any(state[0] & ~state[1]))  # noqa: E731
    return lax.while_loop(grew, body, (start, start ^ start))[0]


def path_distance(start: Cells, goal: Cells, blocks: Cells) -> Reach:
    """The path from a cell to another over cells without blocks; both ends count as open (W1)."""
    return nearest(start, goal, ~blocks | goal, jnp.ones(start.low.shape, bool))

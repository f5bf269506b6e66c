"""Shortest paths as bit floods (E6, E7, W1): each round grows a set of cells by one orthogonal step."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from hackmatrix.jax_env.bitboard import Cells, is_any, neighbours, overlaps, select

_ROUNDS_PER_ITERATION = 4
"""Several rounds in one loop body: a loop's own cost is that of a few rounds."""


def _grow(reached: Cells, passable: Cells) -> Cells:
    """One round of a flood."""
    return reached | (neighbours(reached) & passable)


def nearest(start: Cells, goals: Cells, passable: Cells, wanted: Array) -> Cells:
    """The goals nearest to ``start`` by orthogonal steps over ``passable`` cells (empty when none can be reached).

    The start may be impassable; goals count only where they are passable. ``wanted`` (bool, batch
    shape) says for which games the answer is needed: the loop ends when those have it.
    """

    # the flood stops at the round that meets a goal, so the goals it holds then are the nearest ones; it
    # carries nothing but its cells, because each carried word repeats the work of the rounds before it
    def one_round(reached: Cells) -> Cells:
        return select(overlaps(reached, goals), reached, _grow(reached, passable))

    def body(reached: Cells) -> Cells:
        for _ in range(_ROUNDS_PER_ITERATION):
            reached = one_round(reached)
        return reached

    def growing(reached: Cells) -> Array:
        return jnp.any(is_any(one_round(reached) ^ reached))

    return lax.while_loop(growing, body, start.where(wanted)) & goals


def fill(start: Cells, passable: Cells) -> Cells:
    """All cells that orthogonal steps over ``passable`` reach from ``start`` (which is included)."""

    def body(reached: Cells) -> Cells:
        for _ in range(_ROUNDS_PER_ITERATION):
            reached = _grow(reached, passable)
        return reached

    return lax.while_loop(lambda reached: jnp.any(is_any(_grow(reached, passable) ^ reached)), body, start)


class Path(NamedTuple):
    """A shortest path between two cells."""

    exists: Array
    length: Array
    """Steps (int32; 0 when there is none)."""


def shortest_path(start: Cells, goal: Cells, blocks: Cells) -> Path:
    """The path from a cell to another over cells without blocks; both ends count as open (W1)."""
    passable = ~blocks | goal

    def searching(reached: Cells, grown: Cells) -> Array:
        return ~overlaps(reached, goal) & is_any(grown ^ reached)

    def body(state: tuple[Cells, Array]) -> tuple[Cells, Array]:
        reached, length = state
        for _ in range(_ROUNDS_PER_ITERATION):
            grown = _grow(reached, passable)
            active = searching(reached, grown)
            reached, length = select(active, grown, reached), length + active.astype(jnp.int32)
        return reached, length

    def unfinished(state: tuple[Cells, Array]) -> Array:
        return jnp.any(searching(state[0], _grow(state[0], passable)))

    reached, length = lax.while_loop(unfinished, body, (start, jnp.zeros(start.word.shape, jnp.int32)))
    exists = overlaps(reached, goal)
    return Path(exists, jnp.where(exists, length, 0))

"""Shortest paths as bit floods (E6, E7, W1): each round grows a set of cells by one orthogonal step."""

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

from hackmatrix.jax_env.bitboard import Cells, is_any, neighbours, overlaps, select
from rlworldkit.jax.batching import while_loop
from rlworldkit.jax.target import is_tracing_for

_ROUNDS_PER_ITERATION, _ROUNDS_PER_ITERATION_OF_A_TPU = 4, 12
"""Rounds per loop iteration: the overhead of an iteration equals a few rounds, and on a TPU many."""


def _rounds() -> range:
    return range(_ROUNDS_PER_ITERATION_OF_A_TPU if is_tracing_for("tpu") else _ROUNDS_PER_ITERATION)


def _grow(reached: Cells, passable: Cells, goals: Cells) -> Cells:
    """One round of a flood; a set that has met a goal stays as it is."""
    return select(overlaps(reached, goals), reached, reached | (neighbours(reached) & passable))


def _flood(start: Cells, one_round: Callable[[Cells], Cells]) -> Cells:
    """Repeat a round until no game changes any more.

    The loop state is only the cells, because every further word in it would repeat the work of the rounds before it.
    """

    def body(reached: Cells) -> Cells:
        for _ in _rounds():
            reached = one_round(reached)
        return reached

    return while_loop(lambda reached: jnp.any(is_any(one_round(reached) ^ reached)), body, start)


def nearest(start: Cells, goals: Cells, passable: Cells, wanted: Array) -> Cells:
    """The goals nearest to ``start`` by orthogonal steps over ``passable`` cells (empty when none can be reached).

    The start may be impassable; goals count only where they are passable. ``wanted`` (bool, batch
    shape) flags the games that need the answer: the loop ends when all of them have it.
    """
    return _flood(start.where(wanted), lambda reached: _grow(reached, passable, goals)) & goals


def fill(start: Cells, passable: Cells) -> Cells:
    """All cells that orthogonal steps over ``passable`` reach from ``start`` (which is included)."""
    return _flood(start, lambda reached: reached | (neighbours(reached) & passable))


def shortest_path(start: Cells, goal: Cells, blocks: Cells) -> tuple[Array, Array]:
    """The path from a cell to another over cells without blocks; both ends count as open (W1).

    Returns whether there is a path (bool), and its number of steps (int32; 0 without a path).
    """
    passable = ~blocks | goal

    def body(state: tuple[Cells, Array]) -> tuple[Cells, Array]:
        reached, length = state
        for _ in _rounds():
            grown = _grow(reached, passable, goal)
            reached, length = grown, length + is_any(grown ^ reached).astype(jnp.int32)
        return reached, length

    def unfinished(state: tuple[Cells, Array]) -> Array:
        return jnp.any(is_any(_grow(state[0], passable, goal) ^ state[0]))

    reached, length = while_loop(unfinished, body, (start, jnp.zeros(start.word.shape, jnp.int32)))
    exists = overlaps(reached, goal)
    return exists, jnp.where(exists, length, 0)

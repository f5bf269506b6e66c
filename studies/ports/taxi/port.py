"""Taxi of Gymnasium as pure functions of JAX, with the options ``is_rainy`` and ``fickle_passenger``."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

SOUTH, NORTH, EAST, WEST, PICK, DROP = range(6)
IN_TAXI = 4
STOPS = jnp.array([[0, 0], [0, 4], [4, 0], [4, 3]])
"""Red, green, yellow, blue: (row, column)."""
MOVES = jnp.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
LEFT_OF = jnp.array([EAST, WEST, NORTH, SOUTH])
"""The direction to the left of each direction; the one to the right is the opposite."""
OPPOSITE = jnp.array([NORTH, SOUTH, WEST, EAST])
OPEN_TO_EAST = jnp.array(
    [[1, 0, 1, 1, 0], [1, 0, 1, 1, 0], [1, 1, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 0, 1, 0]], dtype=bool
)
"""(row, column): no wall on the eastern side of the cell."""
STARTS = jnp.array([cell * 20 + at * 4 + to for cell in range(25) for at in range(4) for to in range(4) if at != to])
"""The states in which a game can begin."""


class Taxi(NamedTuple):
    """A game; ``s`` is what Gymnasium calls the state, ((row * 5 + column) * 5 + passenger) * 4 + destination."""

    s: Array
    fickle_step: Array


def parts(s: Array) -> tuple[Array, Array, Array, Array]:
    """Row, column, place of the passenger, destination."""
    return s // 100, s // 20 % 5, s // 4 % 5, s % 4


def is_free(row: Array, column: Array, direction: Array) -> Array:
    """Neither a wall nor the edge lies in a direction, which is below 4."""
    from_column = column - (direction == WEST)
    is_open = OPEN_TO_EAST[row, jnp.maximum(from_column, 0)] & (from_column >= 0)
    return jnp.where(direction == SOUTH, row < 4, jnp.where(direction == NORTH, row > 0, is_open))


def observe(game: Taxi) -> Array:
    """The state as Gymnasium numbers it."""
    return game.s


def reset(draws: Any, is_fickle: bool) -> tuple[Array, Taxi]:
    """A game; its words are 0 for the start and 1 for the passenger's mind."""
    s = STARTS[(draws.random(0) * len(STARTS)).astype(jnp.int32)]
    return s, Taxi(s, is_fickle & (draws.random(1) < 0.3))


def step(draws: Any, game: Taxi, action: Array, is_rainy: bool) -> tuple[Array, Taxi, Array, Array]:
    """A turn; its words are 0 for the rain and 1 for another destination."""
    row, column, passenger, destination = parts(game.s)
    cell = jnp.stack([row, column])
    wanted = jnp.minimum(action, WEST)
    direction = wanted
    if is_rainy:
        luck, left = draws.random(0), LEFT_OF[wanted]
        direction = jnp.where(luck < 0.8, wanted, jnp.where(luck < 0.9, left, OPPOSITE[left]))
    # who cannot go where it wants to does not drift either
    moves = (action < PICK) & is_free(row, column, wanted) & is_free(row, column, direction)
    new_row, new_column = jnp.where(moves, cell + MOVES[direction], cell)

    is_stop = (cell == STOPS).all(axis=1)
    picks = (action == PICK) & (passenger < IN_TAXI) & is_stop[jnp.minimum(passenger, 3)]
    drops = (action == DROP) & (passenger == IN_TAXI) & is_stop.any()
    arrives = drops & is_stop[destination]
    new_passenger = jnp.where(picks, IN_TAXI, jnp.where(drops, jnp.argmax(is_stop), passenger))
    reward = jnp.where(arrives, 20, jnp.where((action >= PICK) & ~picks & ~drops, -10, -1))

    changes = game.fickle_step & (passenger == IN_TAXI) & moves
    other = draws.integers(0, 3, 1)
    new_destination = jnp.where(changes, other + (other >= destination), destination)
    s = ((new_row * 5 + new_column) * 5 + new_passenger) * 4 + new_destination
    return s, Taxi(s, game.fickle_step & ~changes), reward.astype(jnp.float32), arrives


def mask(game: Taxi) -> Array:
    """The actions that change the state."""
    row, column, passenger, _ = parts(game.s)
    is_stop = (jnp.stack([row, column]) == STOPS).all(axis=1)
    picks = (passenger < IN_TAXI) & is_stop[jnp.minimum(passenger, 3)]
    drops = (passenger == IN_TAXI) & is_stop.any()
    moves = [is_free(row, column, jnp.int32(direction)) for direction in range(4)]
    return jnp.stack([*moves, picks, drops])

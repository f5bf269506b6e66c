"""Observations (G7): the rows of an agent's view as bits, and the two channels that they become."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from goodharts.jax_env import grid
from goodharts.jax_env.state import State
from goodharts.jax_env.tables import Variant
from goodharts.rules import REACH, SIZE, VIEW
from rlworldkit.jax.marks import mark

_WORDS_OF_A_ROW = SIZE // grid.BITS
_AROUND = np.arange(-REACH, REACH + 1, dtype=np.int32)
_BITS_OF_A_VIEW = np.arange(VIEW, dtype=np.uint32)
_VIEW = np.uint32((1 << VIEW) - 1)


class ViewRows(NamedTuple):
    """Food and poison in view: uint32 (n, 11), a row of cells in each word, the leftmost in its lowest bit."""

    food: Array
    poison: Array


def look(state: State) -> ViewRows:
    """The cells around the agents."""
    return ViewRows(_in_view(state.food, state), _in_view(state.poison, state))


def _in_view(plane: Array, state: State) -> Array:
    rows = (state.y[:, None] + _AROUND) % SIZE * _WORDS_OF_A_ROW
    leftmost = (state.x - REACH) % SIZE
    first = leftmost // grid.BITS
    # a row in view begins in one word of its row of the grid and may end in the next one, around the torus
    begin = grid.words(plane, rows + first[:, None])
    end = grid.words(plane, rows + ((first + 1) % _WORDS_OF_A_ROW)[:, None])
    shift = (leftmost % grid.BITS).astype(jnp.uint32)[:, None]
    # in two shifts, since one shift by all 32 bits is not defined
    return (begin >> shift | end << 1 << (grid.BITS - 1 - shift)) & _VIEW


def observation_of(variant: Variant, view: ViewRows) -> Array:
    """The observation of a view, float32 (n, 2, 11, 11)."""
    food, poison = ((rows[:, :, None] >> _BITS_OF_A_VIEW & 1).astype(jnp.float32) for rows in view)
    if variant.mode.sees_truth:
        return jnp.stack([food, poison], axis=1)
    numbers = variant.numbers
    worth = np.float32(numbers.food_interest / 1000), np.float32(numbers.poison_interest / 1000)
    interest = worth[0] * food + worth[1] * poison
    return jnp.stack([interest, interest], axis=1)


def observe(variant: Variant, state: State) -> Array:
    """Observe, float32 (n, 2, 11, 11)."""
    mark("G7.look", lambda: jnp.ones(state.x.shape, bool))
    mark("G7.over_the_edge", lambda: _is_near_edge(state.x) | _is_near_edge(state.y))
    return observation_of(variant, look(state))


def _is_near_edge(along: Array) -> Array:
    return (along < REACH) | (along > SIZE - 1 - REACH)

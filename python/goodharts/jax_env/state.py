"""The state of games: two planes of bits and a few words each, 4,140 bytes in all (G1, G13)."""

from typing import NamedTuple

import numpy as np
from jax import Array

from goodharts.jax_env.grid import WORDS
from goodharts.rules import SIZE
from rlworldkit.jax.int64_pair import Int64Pair
from rlworldkit.jax.threefry import EventDraws, Seed


class State(NamedTuple):
    """State of ``n`` games. food, poison: sets of cells as in ``grid``, uint32 (n, 512); all other fields are (n,).

    energy: in thousandths. steps: of this life. event: uint32. key: from which the game draws.
    food_count, poison_count: int32, the episode's, as are x and y.
    """

    food: Array
    poison: Array
    x: Array
    y: Array
    energy: Int64Pair
    steps: Int64Pair
    event: Array
    key: Seed
    food_count: Array
    poison_count: Array

    def cell(self) -> Array:
        """The agents' cells, int32 (n,)."""
        return SIZE * self.y + self.x

    def at(self, cell: Array) -> "State":
        """Move the agents to these cells (n,)."""
        return self._replace(x=cell % SIZE, y=cell // SIZE)

    def draws(self) -> EventDraws:
        """The random words of the latest step's event (G10)."""
        return EventDraws(self.key, self.event)


def blank(games: int) -> State:
    """Games on empty grids, as numpy arrays: the shapes and types of a state."""
    number, word = np.zeros(games, np.int32), np.zeros(games, np.uint32)
    plane = np.zeros((games, WORDS), np.uint32)
    of_64_bits = Int64Pair(word, word)  # type: ignore[arg-type]
    key = Seed(word, word)  # type: ignore[arg-type]
    return State(plane, plane, number, number, of_64_bits, of_64_bits, word, key, number, number)  # type: ignore[arg-type]

"""The grid of a state as an array, whole or around the agent."""

import numpy as np
from numpy.typing import NDArray

from goodharts.rules import FOOD, NUM_CELLS, POISON, SIZE
from rlparity import State

Cells = NDArray[np.int8]


def grid_of(state: State) -> Cells:
    """The grid's cells, EMPTY, FOOD or POISON: int8 (128, 128), rows first."""
    grid = np.zeros(NUM_CELLS, np.int8)
    grid[state["food"]] = FOOD
    grid[state["poison"]] = POISON
    return grid.reshape(SIZE, SIZE)


def around(state: State, reach: int) -> Cells:
    """The cells to each side of the agent, which is in the middle: int8 (2·reach + 1, 2·reach + 1)."""
    offsets = np.arange(-reach, reach + 1)
    return grid_of(state)[np.ix_((state["y"] + offsets) % SIZE, (state["x"] + offsets) % SIZE)]

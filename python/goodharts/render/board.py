"""States and observations as a person sees them, in reports, and the grid of a state as an array."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from goodharts.rules import EMPTY, FOOD, NUM_CELLS, POISON, REACH, SIZE, Mode
from rlparity import Board, State
from rlworldkit.render.colours import AGENT, MUTED, Colour

Cells = NDArray[np.int8]

FOOD_COLOUR, POISON_COLOUR = (244, 203, 92), (222, 98, 184)
"""Colours that also differ in lightness, for people who cannot tell the hues apart."""

_SHOWN = REACH + 3
"""Cells that are drawn to each side of the agent: its view, and a little more."""
LINE_NAMES = tuple(f"{offset:+d}" if offset else "0" for offset in range(-_SHOWN, _SHOWN + 1))
"""Names of the rows and the columns of a drawn board: their distance from the agent."""
_AGENT, _FOOD, _POISON, _EMPTY = "@", "o", "x", "."
_SIGNS = {EMPTY: _EMPTY, FOOD: _FOOD, POISON: _POISON}
_COLOURS = {_AGENT: AGENT, _FOOD: FOOD_COLOUR, _POISON: POISON_COLOUR, _EMPTY: MUTED}

SIGNS = {_AGENT: "agent", _FOOD: "food", _POISON: "poison", _EMPTY: "nothing"}
"""Meanings of the signs of ``draw_board``."""


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


def draw_board(state: State) -> Board:
    """The surroundings of the agent, ``@``: food is ``o``, poison ``x``."""
    rows = [[_SIGNS[kind] for kind in line] for line in around(state, _SHOWN).tolist()]
    rows[_SHOWN][_SHOWN] = _AGENT
    low, high = state["key"]
    return Board(
        rows=tuple(map(tuple, rows)),
        scalars={
            "x": state["x"],
            "y": state["y"],
            "energy": state["energy"] / 1000,
            "steps": state["steps"],
            "event": state["event"],
            "key": f"{high:08x}{low:08x}",
            "food": state["foodCount"],
            "poison": state["poisonCount"],
        },
    )


def colour_of(word: str) -> Colour | None:
    """The colour of a sign of ``draw_board``; None for anything else."""
    return _COLOURS.get(word)


def observation_label(mode: Mode) -> Callable[[tuple[int, ...]], str]:
    """Function that names indices (channel, row, column) of an observation: ``food at (-1, +2)`` from the agent."""
    channels = ("food", "poison") if mode.sees_truth else ("interest", "interest again")

    def label(index: tuple[int, ...]) -> str:
        channel, row, column = index
        return f"{channels[channel]} at ({column - REACH:+d}, {row - REACH:+d})"

    return label

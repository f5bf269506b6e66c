"""States and observations as a person sees them, in reports."""

from collections.abc import Callable

from goodharts.rules import REACH, SIZE, Mode
from parity import Board, State

_SHOWN = REACH + 3
"""Cells to each side of the agent: what it sees, and a little more."""


def draw_board(state: State) -> Board:
    """The surroundings of the agent, ``@``: food is ``o``, poison ``x``."""
    food, poison = set(state["food"]), set(state["poison"])

    def text(x: int, y: int) -> str:
        cell = y % SIZE * SIZE + x % SIZE
        if (x, y) == (state["x"], state["y"]):
            return "@"
        return "o" if cell in food else "x" if cell in poison else "."

    reach = range(-_SHOWN, _SHOWN + 1)
    rows = tuple(tuple(text(state["x"] + dx, state["y"] + dy) for dx in reach) for dy in reach)
    low, high = state["key"]
    return Board(
        rows=rows,
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


def observation_label(mode: Mode) -> Callable[[tuple[int, ...]], str]:
    """What stands at an index (channel, row, column) of an observation: ``food at (-1, +2)``, from the agent."""
    channels = ("food", "poison") if mode.sees_truth else ("interest", "interest again")

    def label(index: tuple[int, ...]) -> str:
        channel, row, column = index
        return f"{channels[channel]} at ({column - REACH:+d}, {row - REACH:+d})"

    return label

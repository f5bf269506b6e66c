"""A state for a terminal: how the agent fares, and what surrounds it."""

from goodharts.render.surroundings import around
from goodharts.rules import FOOD, POISON, REACH
from rlparity import State

_SIGNS = {FOOD: ("●", "\x1b[32m"), POISON: ("◆", "\x1b[31m")}
_EMPTY = "·"
_AGENT, _FAINT, _PLAIN = "\x1b[1;36m", "\x1b[90m", "\x1b[0m"
_SHOWN = REACH + 3
"""Cells to each side: what the agent sees, and a little more, which is faint."""


def draw_text(state: State) -> str:
    """18 lines with ANSI colours: the numbers, then the cells around the agent ``@``, food ``●`` and poison ``◆``.

    Dots mark the empty cells that the agent sees; what lies outside of its view is faint. No newline ends it.
    """
    rows = [
        " ".join(_sign(row - _SHOWN, column - _SHOWN, cell) for column, cell in enumerate(cells))
        for row, cells in enumerate(around(state, _SHOWN).tolist())
    ]
    return "\n".join((_numbers(state), *rows))


def _numbers(state: State) -> str:
    energy, (food, poison) = state["energy"] / 1000, (sign for sign, _ in _SIGNS.values())
    items = f"{state['foodCount']} food {food}, {state['poisonCount']} poison {poison}"
    return f"energy {energy:.2f}, step {state['steps']}, at {state['x']}, {state['y']} among {items}"


def _sign(dy: int, dx: int, cell: int) -> str:
    if dy == dx == 0:
        return f"{_AGENT}@{_PLAIN}"
    is_seen = max(abs(dy), abs(dx)) <= REACH
    sign, colour = _SIGNS.get(cell, (_EMPTY if is_seen else " ", _FAINT))
    return f"{colour if is_seen else _FAINT}{sign}{_PLAIN}"

"""Picture of a state in 900x560 pixels, drawn off screen: the whole torus, and the surroundings of the agent."""

import numpy as np
from numpy.typing import NDArray

from goodharts.render.board import FOOD_COLOUR, POISON_COLOUR, Cells, around, grid_of
from goodharts.rules import EMPTY, FOOD, REACH, SIZE
from rlparity import State
from rlworldkit.render.colours import AGENT, FLOOR, GROUND, LINE, MUTED, TEXT
from rlworldkit.render.pen import Pen, Point, pixels, pygame

WIDTH, HEIGHT = 900, 560
"""Pixels of every picture."""

_TOP = 24
_MAP_LEFT, _DOT = 24, 4
_MAP = SIZE * _DOT
_NEAR_LEFT, _CELL, _SHOWN = 562, 21, REACH + 2
_NEAR = _CELL * (2 * _SHOWN + 1)
_FULL_ENERGY = 10.0
"""Energy of a full bar; there may be more."""


def draw_picture(state: State) -> NDArray[np.uint8]:
    """The picture of a state as RGB: uint8 (560, 900, 3), the same size for every state.

    Food is round and poison pointed, so that colours need not tell them apart.

    A frame marks the agent's view, both in the torus on the left and in the surroundings on the right.
    """
    pen = Pen.on((WIDTH, HEIGHT), GROUND)
    _draw_map(pen.moved(_MAP_LEFT, _TOP), state)
    _draw_near(pen.moved(_NEAR_LEFT, _TOP), state)
    _draw_numbers(pen.moved(_NEAR_LEFT, _TOP + _NEAR + 20), state)
    return pixels(pen.finished())


def _draw_map(pen: Pen, state: State) -> None:
    pen.box((0, 0), (_MAP, _MAP), FLOOR)
    _draw_items(pen, grid_of(state), _DOT, 0.6 * _DOT)
    x, y = _DOT * (state["x"] + 0.5), _DOT * (state["y"] + 0.5)
    reach = _DOT * (REACH + 0.5)
    pen.surface.set_clip(pygame.Rect(*pen.at((0, 0)), Pen.SCALE * _MAP, Pen.SCALE * _MAP))
    for left in _on_torus(x, reach):
        for top in _on_torus(y, reach):
            pen.box((left - reach, top - reach), (2 * reach, 2 * reach), AGENT, width=1)
    pen.surface.set_clip(None)
    pen.circle((x, y), 1.1 * _DOT, AGENT)


def _on_torus(place: float, reach: float) -> list[float]:
    """Places along an axis of the map of something that extends ``reach`` to both sides: two where it wraps."""
    return [each for each in (place - _MAP, place, place + _MAP) if -reach < each < _MAP + reach]


def _draw_near(pen: Pen, state: State) -> None:
    pen.box((0, 0), (_NEAR, _NEAR), FLOOR)
    for line in range(2 * _SHOWN + 2):
        pen.line((_CELL * line, 0), (_CELL * line, _NEAR), GROUND)
        pen.line((0, _CELL * line), (_NEAR, _CELL * line), GROUND)
    _draw_items(pen, around(state, _SHOWN), _CELL, 0.3 * _CELL)
    pen.circle((_NEAR / 2, _NEAR / 2), 0.4 * _CELL, AGENT)
    seen = _CELL * (2 * REACH + 1)
    pen.box(((_NEAR - seen) / 2, (_NEAR - seen) / 2), (seen, seen), AGENT, width=1.5)


def _draw_numbers(pen: Pen, state: State) -> None:
    energy = state["energy"] / 1000
    pen.text("energy", (0, 8), 24, MUTED, align="left")
    pen.text(f"{energy:.2f}", (_NEAR, 8), 28, TEXT if energy > 0 else POISON_COLOUR, align="right")
    pen.box((0, 24), (_NEAR, 8), LINE, radius=4)
    full = min(max(energy / _FULL_ENERGY, 0), 1)
    if full > 0:
        pen.box((0, 24), (max(full * _NEAR, 8), 8), AGENT, radius=4)
    for line, (name, value) in enumerate((("step", state["steps"]), ("at", f"{state['x']}, {state['y']}"))):
        pen.text(name, (0, 54 + 26 * line), 24, MUTED, align="left")
        pen.text(f"{value}", (_NEAR, 54 + 26 * line), 26, TEXT, align="right")
    for line, (draw, name) in enumerate(((_draw_food, "food"), (_draw_poison, "poison"))):
        draw(pen, (8, 118 + 28 * line), 6.5)
        pen.text(f"{name} on the grid", (24, 118 + 28 * line), 24, MUTED, align="left")
        pen.text(f"{state[f'{name}Count']}", (_NEAR, 118 + 28 * line), 26, TEXT, align="right")


def _draw_food(pen: Pen, centre: Point, radius: float) -> None:
    pen.circle(centre, radius, FOOD_COLOUR)


def _draw_poison(pen: Pen, centre: Point, radius: float) -> None:
    # a star of four points, which reach a little farther than the disk of food
    (x, y), tip, dent = centre, 1.4 * radius, 0.5 * radius
    quarter = ((0.0, -tip), (dent, -dent), (tip, 0.0), (dent, dent))
    corners = (*quarter, *((-right, -down) for right, down in quarter))
    pen.polygon([(x + right, y + down) for right, down in corners], POISON_COLOUR)


def _draw_items(pen: Pen, cells: Cells, cell: float, radius: float) -> None:
    """Draw the food and poison of cells (rows, columns), each ``cell`` pixels wide, the first corner at (0, 0)."""
    for row, column in np.argwhere(cells != EMPTY).tolist():
        draw = _draw_food if cells[row, column] == FOOD else _draw_poison
        draw(pen, (cell * (column + 0.5), cell * (row + 0.5)), radius)

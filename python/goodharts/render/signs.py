"""The signs of this world: food and poison differ by shape and lightness too, whatever colours one sees."""

from __future__ import annotations

import numpy as np

from goodharts.render.colours import FOOD_COLOUR, POISON_COLOUR
from goodharts.render.surroundings import Cells
from goodharts.rules import EMPTY, FOOD
from rlworldkit.render.pen import Pen, Point


def draw_food(pen: Pen, centre: Point, radius: float) -> None:
    """A disk."""
    pen.circle(centre, radius, FOOD_COLOUR)


def draw_poison(pen: Pen, centre: Point, radius: float) -> None:
    """A star of four points, which reach a little farther than the disk."""
    (x, y), tip, dent = centre, 1.4 * radius, 0.5 * radius
    quarter = ((0.0, -tip), (dent, -dent), (tip, 0.0), (dent, dent))
    corners = (*quarter, *((-right, -down) for right, down in quarter))
    pen.polygon([(x + right, y + down) for right, down in corners], POISON_COLOUR)


def draw_items(pen: Pen, cells: Cells, cell: float, radius: float) -> None:
    """The food and the poison of cells (rows, columns), each so many pixels wide, the first one's corner at (0, 0)."""
    for row, column in np.argwhere(cells != EMPTY).tolist():
        draw = draw_food if cells[row, column] == FOOD else draw_poison
        draw(pen, (cell * (column + 0.5), cell * (row + 0.5)), radius)

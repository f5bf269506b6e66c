"""The colours and signs of this world: food and poison differ by shape and lightness too, whatever colours one sees."""

from __future__ import annotations

from goodharts.rules import MOVES
from worldkit.render.colours import Colour
from worldkit.render.pen import Pen, Point

FOOD_COLOUR = (244, 203, 92)
POISON_COLOUR = (222, 98, 184)


def draw_food(pen: Pen, centre: Point, radius: float) -> None:
    """A disk."""
    pen.circle(centre, radius, FOOD_COLOUR)


def draw_poison(pen: Pen, centre: Point, radius: float, colour: Colour = POISON_COLOUR) -> None:
    """A cross."""
    x, y = centre
    arm, half = radius, radius * 0.34
    for turn in (1, -1):
        corners = ((-arm, -arm + half), (-arm + half, -arm), (arm, arm - half), (arm - half, arm))
        pen.polygon([(x + along * turn, y + down) for along, down in corners], colour)


def draw_arrow(pen: Pen, centre: Point, action: int, length: float, colour: Colour) -> None:
    """An arrow in the direction of an action (G4), its middle at a place."""
    (x, y), (right, down) = centre, direction(action)

    def at(ahead: float, aside: float) -> Point:
        return x + length * (ahead * right - aside * down), y + length * (ahead * down + aside * right)

    pen.polygon([at(0.5, 0), at(-0.02, 0.38), at(-0.02, -0.38)], colour)
    pen.polygon([at(0.0, 0.12), at(0.0, -0.12), at(-0.5, -0.12), at(-0.5, 0.12)], colour)


def direction(action: int) -> Point:
    """Where an action goes, as a step of length 1 to the right and downwards."""
    right, down = MOVES[action]
    length = (right**2 + down**2) ** 0.5
    return right / length, down / length

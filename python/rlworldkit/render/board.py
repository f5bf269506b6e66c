"""Off-screen picture of any world: the board and the numbers of ``World.draw``."""

import numpy as np
from numpy.typing import NDArray

from rlparity import State, World
from rlworldkit.render.colours import FLOOR, GROUND, MUTED, TEXT
from rlworldkit.render.pen import Pen, pixels

_AREA, _PANEL, _EDGE = 560, 240, 24
_LARGEST_TEXT = 30


def draw_board(world: World, state: State) -> NDArray[np.uint8]:
    """Draw a state as RGB: uint8 (608, 848, 3), the text of each cell in the world's colour for it."""
    board = world.draw(state)
    pen = Pen.on((_AREA + _PANEL + 2 * _EDGE, _AREA + 2 * _EDGE), GROUND)
    side = _AREA / max(len(board.rows), *map(len, board.rows))
    for down, row in enumerate(board.rows):
        for right, text in enumerate(row):
            cell = pen.moved(_EDGE + side * right, _EDGE + side * down)
            cell.box((1, 1), (side - 2, side - 2), FLOOR, radius=side / 16)
            colour = world.colour_of(text) if world.colour_of else None
            size = min(_LARGEST_TEXT, round(0.9 * side))
            cell.text(text, (side / 2, side / 2), size, colour or TEXT, fit=0.9 * side)
    for line, (name, value) in enumerate(board.scalars.items()):
        place = pen.moved(_EDGE + _AREA + 12, _EDGE + 12 + 26 * line)
        used = place.text(name, (0, 0), 20, MUTED, align="left")
        place.text(f"{value}", (_PANEL - 12, 0), 22, TEXT, align="right", fit=_PANEL - used - 24)
    return pixels(pen.finished())

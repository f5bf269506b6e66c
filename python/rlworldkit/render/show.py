"""``Show``: how people watch, play and view a world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rlparity import Board, State, World
from rlworldkit.render.colours import FLOOR, GROUND, MUTED, TEXT
from rlworldkit.render.panels import Panels

if TYPE_CHECKING:
    from rlparity.viewer.page import End

_AREA, _PANEL, _EDGE = 560, 240, 24
"""Sizes of a drawn board, of the panel with its numbers, and of the edges, in pixels."""
_LARGEST_TEXT = 30


@dataclass(frozen=True)
class Show:
    """How people watch, play and view a world; without ``text`` or ``picture``, they see the board of ``World.draw``.

    text: renders a state as text, with or without ANSI colours. text_size: the columns and lines that it takes.
    picture: draws a state, uint8 (height, width, 3); needs pygame. frames_per_second: the pace of windows and videos.
    victory: the ending that counts as a win.
    progress: describes how far a game has come, such as `` in level 3``, for the line that tells its end.
    end: takes the states before and after the last step of a game, its action and its ending (None: left); returns the
        end for the overview of a page, and an addition to the verdict, such as the cause.
    panels: class of the play screen's panels, made from a world and the name of an engine.
    """

    text: Callable[[State], str] | None = None
    text_size: tuple[int, int] = (100, 26)
    picture: Callable[[State], NDArray[np.uint8]] | None = None
    frames_per_second: int = 4
    victory: str = "won"
    progress: Callable[[State], str] = lambda state: ""
    end: Callable[[State, State, int, str | None], tuple[End | None, str]] = lambda *_: (None, "")
    panels: type[Panels] = Panels


def show_of(world: World) -> Show:
    """Return the ``Show`` of this world, or the default one."""
    return _opened(world.show)


@cache  # called for every frame
def _opened(open_show: Callable[[], Show] | None) -> Show:
    return open_show() if open_show else Show()


def text_of(world: World, state: State) -> str:
    """Render a state as text."""
    text = show_of(world).text
    return text(state) if text else board_text(world.draw(state))


def picture_of(world: World, state: State) -> NDArray[np.uint8]:
    """Draw a state as a picture, uint8 (height, width, 3); needs pygame."""
    picture = show_of(world).picture
    return picture(state) if picture else draw_board(world, state)


def board_text(board: Board) -> str:
    """Render a board as text: its rows, and its numbers below them."""
    width = 1 + max((len(text) for row in board.rows for text in row), default=0)
    rows = ["".join(f"{text or '.':{width}}" for text in row) for row in board.rows]
    return "\n".join([*rows, "", "  ".join(f"{name} {value}" for name, value in board.scalars.items())])


def draw_board(world: World, state: State) -> NDArray[np.uint8]:
    """Draw a state as RGB: uint8 (608, 848, 3), the text of each cell in the world's colour for it; needs pygame."""
    from rlworldkit.render.pen import Pen, pixels

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

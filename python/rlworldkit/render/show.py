"""``Show``: how people watch, play and view a world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rlparity import Board, State, World
from rlworldkit.render.panels import Panels

if TYPE_CHECKING:
    from rlparity.viewer.page import End


@dataclass(frozen=True)
class Show:
    """How people watch, play and view a world; what is left out is the board that the world draws for reports.

    text: a state as text, with or without ANSI colours. text_size: the columns and lines that it takes.
    picture: a state as uint8 (height, width, 3); needs pygame. frames_per_second: the pace of windows and videos.
    victory: the ending that is good news.
    progress: how far a game has come, such as `` in level 3``, for the line that tells its end.
    end: from the states before and after the last step of a game, its action and its ending (None: left), the end for
        the overview of a page, and what a verdict adds, such as who did it.
    panels: the class of what stands on the screen of whoever plays, of a world and an engine.
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
    """How people watch, play and view this world."""
    return _opened(world.show)


@cache  # pictures ask for every frame
def _opened(open_show: Callable[[], Show] | None) -> Show:
    return open_show() if open_show else Show()


def text_of(world: World, state: State) -> str:
    """A state as text."""
    text = show_of(world).text
    return text(state) if text else board_text(world.draw(state))


def picture_of(world: World, state: State) -> NDArray[np.uint8]:
    """A state as a picture, uint8 (height, width, 3); needs pygame."""
    if picture := show_of(world).picture:
        return picture(state)
    from rlworldkit.render.board import draw_board

    return draw_board(world, state)


def board_text(board: Board) -> str:
    """A drawn board as text: its rows, and its numbers below them."""
    width = 1 + max((len(text) for row in board.rows for text in row), default=0)
    rows = ["".join(f"{text or '.':{width}}" for text in row) for row in board.rows]
    return "\n".join([*rows, "", "  ".join(f"{name} {value}" for name, value in board.scalars.items())])

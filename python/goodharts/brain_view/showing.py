"""Moments in a window, in a film, or the last of them as a picture."""

import math
from collections import deque
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from PIL import Image

from goodharts.brain_view import PICTURE
from goodharts.brain_view.picture import HEIGHT, WIDTH, Caption, draw_picture, draw_surface
from goodharts.brain_view.player import ActivationFrame, Player
from rlparity.io.atomic_write import replacing, telling_failures
from rlworldkit.render.film import film
from rlworldkit.runs.stop import StopRequest
from rlworldkit.watch.controls import Controls, play
from rlworldkit.watch.window import WindowScreen

_MOST_LATE = 0.1
"""Seconds by which pictures may be late: at high speeds some are left out."""
_KEYS = "space: pause    right: one step    up, down: speed    n: next life    q: quit"


def view(player: Player, caption: Caption, controls: Controls, *, steps: float = math.inf) -> None:
    """Show an agent in a window until somebody quits or it has made its steps; raises ParityError without a window."""
    screen: WindowScreen[ActivationFrame] = WindowScreen(
        f"Goodharts: {caption.mode}", lambda moment, now: draw_surface(moment, caption, f"{now.pace}    {_KEYS}")
    )
    with closing(screen), StopRequest() as stop:
        for _ in play(player.lives(steps), screen, controls, stop, _MOST_LATE):
            pass


def record(path: Path, moments: Iterable[ActivationFrame], caption: Caption, fps: float) -> int:
    """Write moments, one or more, into a file of one of the ``KINDS``, of a ``.png`` the last; return their number.

    Raises UsageError where the file cannot be written; what was there before stays.
    """
    if path.suffix.lower() == PICTURE:
        (last,) = deque(moments, maxlen=1)
        with telling_failures(path), replacing(path) as file:
            Image.fromarray(draw_picture(last, caption)).save(file, "PNG", optimize=True)
        return 1
    written = 0
    with film(path, (WIDTH, HEIGHT), fps) as add:
        for written, moment in enumerate(moments, start=1):  # noqa: B007 - it is returned
            add(draw_picture(moment, caption))
    return written

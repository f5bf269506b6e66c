"""A window as a screen."""

import os
import time
from collections import deque

from hackmatrix.watch.controls import Controls
from hackmatrix.watch.picture import draw_moment
from hackmatrix.watch.play import Moment
from parity.errors import UsageError
from worldkit.render._pygame import pygame
from worldkit.render.display import has_display
from worldkit.render.window import NO_DISPLAY, Window

_FRAMES = 100
"""In a second, at most."""


class WindowScreen:
    """A window that shows moments and gives the keys pressed in it; closing it quits.

    Raises UsageError where there is no display.
    """

    def __init__(self, caption: str) -> None:
        if not has_display() and "SDL_VIDEODRIVER" not in os.environ:
            raise UsageError(NO_DISPLAY)
        self._caption = caption
        self._window: Window[pygame.Surface] = Window(lambda picture: picture, "HackMatrix", _FRAMES)
        self._keys: deque[str] = deque()
        self.close = self._window.close

    def show(self, moment: Moment, controls: Controls) -> None:
        """Show a moment."""
        self._window.show(draw_moment(moment, self._caption, controls))

    def key(self, seconds: float) -> str | None:
        """The next key; closing the window is as good as q."""
        end = time.monotonic() + seconds
        while True:
            self._keys += (pressed.unicode for pressed in self._window.pressed())
            if self._keys:
                return self._keys.popleft()
            if not self._window.is_open:
                return "q"
            if time.monotonic() >= end:
                return None
            time.sleep(max(0.0, min(1 / _FRAMES, end - time.monotonic())))

"""A window as a screen."""

import os
import time
from collections import deque

from parity.errors import UsageError
from worldkit.render._pygame import pygame
from worldkit.render.display import has_display
from worldkit.render.window import NO_DISPLAY, Window
from worldkit.watch.controls import Controls
from worldkit.watch.frames import Frame
from worldkit.watch.picture import draw_frame

_FRAMES = 100
"""In a second, at most."""


class WindowScreen:
    """A window that shows frames and gives the keys pressed in it; closing it quits.

    Raises UsageError where there is no display.
    """

    def __init__(self, title: str, caption: str) -> None:
        if not has_display() and "SDL_VIDEODRIVER" not in os.environ:
            raise UsageError(NO_DISPLAY)
        self._caption = caption
        self._window: Window[pygame.Surface] = Window(lambda picture: picture, title, _FRAMES)
        self._keys: deque[str] = deque()
        self.close = self._window.close

    def show(self, frame: Frame, controls: Controls) -> None:
        """Show a frame."""
        self._window.show(draw_frame(frame, self._caption, controls))

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

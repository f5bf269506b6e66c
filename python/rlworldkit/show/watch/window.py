"""Screen for watching in a window."""

import time
from collections import deque

from rlworldkit.render._pygame import pygame
from rlworldkit.render.display import require_display
from rlworldkit.render.window import Window
from rlworldkit.show.watch.controls import Controls
from rlworldkit.show.watch.frames import Frame
from rlworldkit.show.watch.picture import draw_frame

_FRAMES = 100
"""Maximum number of frames in a second."""
_KEYS = {
    **dict.fromkeys((pygame.K_SPACE, pygame.K_p), " "),
    **dict.fromkeys((pygame.K_RIGHT, pygame.K_s), "s"),
    **dict.fromkeys((pygame.K_UP, pygame.K_PLUS, pygame.K_EQUALS, pygame.K_KP_PLUS), "+"),
    **dict.fromkeys((pygame.K_DOWN, pygame.K_MINUS, pygame.K_KP_MINUS), "-"),
    **dict.fromkeys((pygame.K_ESCAPE, pygame.K_q), "q"),
    pygame.K_n: "n",
}
"""Keys that mean the same on every keyboard layout."""


class WindowScreen:
    """A window that shows frames and reads the keys pressed in it; closing it quits.

    Raises UsageError if there is no display.
    """

    def __init__(self, title: str, caption: str) -> None:
        require_display()
        self._caption = caption
        self._window = Window(title, _FRAMES)
        self._keys: deque[str] = deque()
        self.close = self._window.close

    def show(self, frame: Frame, controls: Controls, /) -> None:
        """Show a frame."""
        self._window.show(draw_frame(frame, self._caption, controls))

    def key(self, seconds: float) -> str | None:
        """Return the next key, q if the window was closed, None if no key was pressed in time."""
        end = time.monotonic() + seconds
        while True:
            self._keys += (_KEYS.get(pressed.key) or pressed.unicode for pressed in self._window.pressed())
            if self._keys:
                return self._keys.popleft()
            if not self._window.is_open:
                return "q"
            if time.monotonic() >= end:
                return None
            time.sleep(max(0.0, min(1 / _FRAMES, end - time.monotonic())))

"""Window on the screen that shows one picture after another."""

import logging
import os

import numpy as np
from numpy.typing import NDArray

from rlparity.errors import ParityError
from rlparity.io.console import encodable
from rlworldkit.render.display import NO_DISPLAY
from rlworldkit.render.pen import pygame, surface_of

_LOGGER = logging.getLogger("rlworldkit")


class Window:
    """A window that shows at most ``fps`` pictures a second (above 0), for which ``show`` waits.

    It opens with the first ``show``. Once a person has closed it, it stays closed and ``show`` does nothing.
    Without a display nobody sees it, and a warning is logged, as in Gymnasium's own environments. pygame has one window
    in a process, so use one ``Window`` at a time.
    """

    def __init__(self, title: str, fps: float) -> None:
        self._title, self._fps = title, fps
        self._screen: pygame.Surface | None = None
        self._ended = False
        self._pressed: list[pygame.event.Event] = []
        self._clock = pygame.time.Clock()

    @property
    def is_open(self) -> bool:
        """Return whether the window is on the screen: false before the first ``show`` and after it was closed."""
        self._pump()
        return self._screen is not None

    def show(self, picture: pygame.Surface | NDArray[np.uint8]) -> None:
        """Show a surface or uint8 (height, width, 3), all of one size; raises ParityError where no window opens."""
        self._pump()
        if self._ended:
            return
        picture = surface_of(picture) if isinstance(picture, np.ndarray) else picture
        if self._screen is None:
            self._screen = _open(picture.get_size(), self._title)
        self._screen.blit(picture, (0, 0))
        pygame.display.flip()
        self._clock.tick(self._fps)
        self._pump()

    def pressed(self) -> list[pygame.event.Event]:
        """Return the events of the keys pressed since the last call, in their order.

        ``key`` of an event is pygame's code (``pygame.K_SPACE``), and ``unicode`` the text that the key types, which
        finds a ``+`` on every keyboard.
        """
        self._pump()
        pressed, self._pressed = self._pressed, []
        return pressed

    def close(self) -> None:
        """Close the window for good; a second time does nothing."""
        self._ended = True
        if self._screen is not None:
            self._screen = None
            pygame.display.quit()

    def _pump(self) -> None:
        """Process events: store pressed keys, and close if a person asked for it or the display has gone."""
        if self._screen is None:
            return
        events = pygame.event.get() if pygame.display.get_surface() else [pygame.event.Event(pygame.QUIT)]
        self._pressed += [event for event in events if event.type == pygame.KEYDOWN]
        if any(event.type == pygame.QUIT for event in events):
            self.close()


def _open(size: tuple[int, int], title: str) -> pygame.Surface:
    try:
        pygame.display.init()
        # Without a display, SDL silently falls back to a driver that shows nothing.
        if pygame.display.get_driver() == "offscreen" and "SDL_VIDEODRIVER" not in os.environ:
            _LOGGER.warning(NO_DISPLAY)
        pygame.display.set_caption(encodable(title))
        return pygame.display.set_mode(size)
    except pygame.error:
        raise ParityError(NO_DISPLAY) from None

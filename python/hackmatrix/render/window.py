"""A window on the screen that shows one board after another."""

import logging
import os
from types import TracebackType

from hackmatrix.render._pygame import pygame
from hackmatrix.render.model import BoardModel
from hackmatrix.render.picture import draw_surface
from parity.errors import ParityError

_LOGGER = logging.getLogger("hackmatrix")
_NO_DISPLAY = "There is no display to open a window on: run on a desktop, or draw text or pictures instead."


class Window:
    """Shows boards in a window, at most ``fps`` in a second.

    The window opens with the first ``show``. A person may close it at any time: then it stays closed, and
    ``show`` does nothing. Without a display the boards are drawn where nobody sees them, and the log says so,
    as Gymnasium's own environments do. pygame has one window in a process, so use one ``Window`` at a time. A context
    manager closes it in the end.

    Args:
        fps: boards a second, above 0; ``show`` waits as long as that takes.
        title: what the window is called.
    """

    def __init__(self, *, fps: float = 4, title: str = "HackMatrix") -> None:
        self._fps = fps
        self._title = title
        self._screen: pygame.Surface | None = None
        self._ended = False
        self._clock = pygame.time.Clock()

    @property
    def is_open(self) -> bool:
        """Whether the window is on the screen: false before the first ``show`` and after it was closed."""
        self._pump()
        return self._screen is not None

    def show(self, board: BoardModel | pygame.Surface) -> None:
        """Show a board, or a surface as ``draw_surface`` makes it.

        Raises:
            ParityError: pygame cannot open a window.
        """
        self._pump()
        if self._ended:
            return
        picture = draw_surface(board) if isinstance(board, BoardModel) else board
        if self._screen is None:
            self._screen = _open(picture.get_size(), self._title)
        self._screen.blit(picture, (0, 0))
        pygame.display.flip()
        self._clock.tick(self._fps)
        self._pump()

    def close(self) -> None:
        """Close the window for good; a second time does nothing."""
        self._ended = True
        if self._screen is not None:
            self._screen = None
            pygame.display.quit()

    def __enter__(self) -> "Window":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _pump(self) -> None:
        """Answer the window system, and close where a person asked for it."""
        if self._screen is None:
            return
        if pygame.display.get_surface() is None or any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()


def _open(size: tuple[int, int], title: str) -> pygame.Surface:
    try:
        pygame.display.init()
        # Where SDL finds no display, it takes a driver that shows nothing, unasked.
        if pygame.display.get_driver() == "offscreen" and "SDL_VIDEODRIVER" not in os.environ:
            _LOGGER.warning(_NO_DISPLAY)
        pygame.display.set_caption(title)
        return pygame.display.set_mode(size)
    except pygame.error:
        raise ParityError(_NO_DISPLAY) from None

"""The terminal as a screen: whole pages, and keys as they are pressed."""

import os
import select
import sys
import termios
import tty
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live

from worldkit.render.display import require_room
from worldkit.watch.controls import Controls
from worldkit.watch.frames import Frame
from worldkit.watch.text import page, page_sizes

_CTRL_C = b"\x03"


class Terminal:
    """A context in which the terminal shows pages and gives keys one by one; afterwards it is as it was.

    Raises UsageError where it is too small.
    """

    def __init__(self, console: Console, caption: str, text_size: tuple[int, int]) -> None:
        require_room(console, "watching", *page_sizes(text_size))
        self._console, self._caption = console, caption
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        self._undo.callback(termios.tcsetattr, descriptor, termios.TCSADRAIN, before)
        try:
            tty.setcbreak(descriptor)
            raw = termios.tcgetattr(descriptor)
            # as signals these could leave a terminal behind that is not as it was; as a key Ctrl-C quits
            for control in (termios.VINTR, termios.VQUIT, termios.VSUSP):
                raw[6][control] = b"\0"
            termios.tcsetattr(descriptor, termios.TCSADRAIN, raw)
            self._live = self._undo.enter_context(Live(console=self._console, screen=True, auto_refresh=False))
        except BaseException:
            self._undo.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.close()

    def show(self, frame: Frame, controls: Controls) -> None:
        """Show a frame."""
        self._live.update(page(frame, controls, self._caption, self._console.width), refresh=True)

    def key(self, seconds: float) -> str | None:
        """The next key; a terminal that has gone is as good as one who quits."""
        descriptor = sys.stdin.fileno()
        if not select.select([descriptor], [], [], seconds)[0]:
            return None
        pressed = os.read(descriptor, 1)
        return "q" if pressed in (b"", _CTRL_C) else pressed.decode("ascii", "replace")

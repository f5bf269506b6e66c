"""Screen for watching in a terminal: full pages, and keys as they are pressed."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live

from rlparity import World
from rlworldkit.render.display import require_room
from rlworldkit.render.panels import Panels
from rlworldkit.render.show import show_of
from rlworldkit.show.watch.controls import Controls
from rlworldkit.show.watch.frames import Frame
from rlworldkit.show.watch.text import page, page_sizes

_CTRL_C = b"\x03"


class Terminal:
    """A terminal that shows pages of its current size and reads keys one by one."""

    def __init__(self, live: Live, caption: str, panels: Panels) -> None:
        self._live, self._caption, self._panels = live, caption, panels
        self._shown: tuple[Frame, Controls] | None = None
        self._size = live.console.size

    def show(self, frame: Frame, controls: Controls) -> None:
        """Show a frame."""
        self._shown, self._size = (frame, controls), self._live.console.size
        self._live.update(page(frame, controls, self._caption, self._size, self._panels), refresh=True)

    def key(self, seconds: float) -> str | None:
        """Return the next key, q if the terminal has gone; redraws the page if the terminal's size has changed."""
        descriptor = sys.stdin.fileno()
        if self._shown and self._live.console.size != self._size:
            self.show(*self._shown)
        if not select.select([descriptor], [], [], seconds)[0]:
            return None
        pressed = os.read(descriptor, 1)
        return "q" if pressed in (b"", _CTRL_C) else pressed.decode("ascii", "replace")


@contextmanager
def open_terminal(console: Console, caption: str, world: World, engine: str) -> Iterator[Terminal]:
    """Context with the terminal as a screen, restored afterwards. Raises UsageError if the terminal is too small."""
    require_room(console, "watching", *page_sizes(show_of(world).text_size))
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        raw = termios.tcgetattr(descriptor)
        # as signals, these could end the process before the terminal is restored; as a key, Ctrl-C quits
        for control in (termios.VINTR, termios.VQUIT, termios.VSUSP):
            raw[6][control] = b"\0"
        termios.tcsetattr(descriptor, termios.TCSADRAIN, raw)
        with Live(console=console, screen=True, auto_refresh=False) as live:
            yield Terminal(live, caption, show_of(world).panels(world, engine))
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

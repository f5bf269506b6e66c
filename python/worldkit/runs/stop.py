"""A clean end on request: Ctrl-C and ``kill``."""

import contextlib
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self


class StopRequest:
    """A context in which Ctrl-C or ``kill`` asks for a clean end; a second one ends the process at once.

    ``announce`` is called on the first. Outside the main thread, where Python allows
    no signal handlers, the context does nothing.
    """

    def __init__(self, announce: Callable[[], None] = lambda: None) -> None:
        self.requested = False
        self._announce = announce
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            # SIGINT too: a shell starts its background jobs with it ignored
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        for handled in self._previous:
            signal.signal(handled, signal.SIG_DFL)
        # a stream that is being written to refuses another write in between: then the end itself must say it
        with contextlib.suppress(RuntimeError):
            self._announce()

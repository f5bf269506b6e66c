"""Clean end of a run on Ctrl-C, ``kill`` and a terminal that closes."""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from rlparity.errors import INTERRUPTED_EXIT_CODE


class StopRequest:
    """Context in which Ctrl-C, ``kill`` or SIGHUP requests a clean end; a second Ctrl-C or ``kill`` ends at once.

    A closing terminal sends several SIGHUPs, of which further ones change nothing; under ``nohup`` they stay ignored.
    Outside the main thread, where Python allows no signal handlers, the context does nothing.

    announce: called on the first signal. give_up: for a run that has nothing to save until ``begun`` is called: before
    that, the first signal calls ``give_up`` on a separate thread and ends the process with exit code 130, even while it
    compiles.
    """

    def __init__(self, announce: Callable[[], None] = lambda: None, give_up: Callable[[], None] | None = None) -> None:
        self.requested = False
        self._announce, self._give_up = announce, give_up
        self._previous: dict[int, Any] = {}
        self._wakeup: socket.socket | None = None
        self._previous_wakeup = -1

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            # SIGINT too: a shell starts its background jobs with it ignored
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self._on_signal)
            if self._give_up:
                self._end_at_once(self._give_up)
        return self

    def __exit__(self, *error: object) -> None:
        self.begun()
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def begun(self) -> None:
        """Declare that there is something to save from now on; may be called repeatedly."""
        if self._wakeup:
            signal.set_wakeup_fd(self._previous_wakeup)
            self._wakeup.close()
            self._wakeup = None

    def _end_at_once(self, give_up: Callable[[], None]) -> None:
        """End the process on the next signal from a thread, since a signal handler waits for native calls to return."""
        signals, self._wakeup = socket.socketpair()
        self._wakeup.setblocking(False)
        self._previous_wakeup = signal.set_wakeup_fd(self._wakeup.fileno())

        def work() -> None:
            with signals:
                while number := signals.recv(1):  # empty once the other end is closed
                    if number[0] in self._previous:
                        try:
                            give_up()
                        finally:
                            os._exit(INTERRUPTED_EXIT_CODE)

        threading.Thread(target=work, daemon=True).start()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        is_first, self.requested = not self.requested, True
        for handled in self._previous:
            if handled != signal.SIGHUP:
                signal.signal(handled, signal.SIG_DFL)
        if is_first and not self._wakeup:
            # printing fails inside another write to the same stream, and if the terminal is gone; the stop is then
            # reported only at the end of the run
            with contextlib.suppress(RuntimeError, OSError):
                self._announce()

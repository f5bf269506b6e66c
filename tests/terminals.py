"""A command in a terminal of its own, for the tests of commands that take keys."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PATIENCE = 120
"""Seconds that a command may take."""
Act = Callable[[int, Callable[[str], None], int], None]


@contextlib.contextmanager
def default_signals() -> Iterator[None]:
    """Let signals do here, and in what is started here, what they do in a command that a terminal starts.

    Of those who start the tests, ``nohup`` has SIGHUP ignored, and a shell SIGINT in its background jobs.
    """
    handlers: dict[int, Any] = dict.fromkeys((signal.SIGHUP, signal.SIGTERM), signal.SIG_DFL)
    handlers[signal.SIGINT] = signal.default_int_handler
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def in_terminal(
    words: list[str], act: Act, size: tuple[int, int], folder: Path | None = None, **variables: str
) -> tuple[str, int, bool]:
    """Run a command in a terminal of (lines, columns): its output, exit code, and whether the terminal is as before.

    ``act(terminal, wait_for, process)`` writes keys to the terminal, waits for a text on it, and knows the process's
    id. The command runs in ``folder`` with these environment variables besides those of the tests.
    """
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, size)
    before = termios.tcgetattr(theirs)
    # the terminal's own size counts, not one that the tests were started with
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment = {**inherited, "TERM": "xterm-256color", **variables}
    with default_signals():
        process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder)
    seen = b""
    end = time.monotonic() + PATIENCE

    def read(seconds: float) -> None:
        nonlocal seen
        if select.select([ours], [], [], seconds)[0]:
            seen += os.read(ours, 65536)

    def wait_for(text: str) -> None:
        nonlocal seen
        while text.encode() not in seen:
            is_over = process.poll() is not None or time.monotonic() > end
            read(0.1)
            assert not is_over or text.encode() in seen, f"no {text!r} in {seen[-3000:]!r}"
        seen = seen.partition(text.encode())[2]

    try:
        act(ours, wait_for, process.pid)
        while process.poll() is None:
            assert time.monotonic() < end
            read(0.1)
        with contextlib.suppress(OSError):
            read(0.1)
        return seen.decode(errors="replace"), process.returncode, termios.tcgetattr(theirs) == before
    finally:
        process.kill()
        os.close(ours)
        os.close(theirs)

"""The dashboard as the trainers' parent process uses it: a server on the loopback interface, in a thread of its own."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodharts.dashboard.progress import Outcome, Progress
from parity.errors import UsageError, install_command

if TYPE_CHECKING:
    from werkzeug.serving import BaseWSGIServer

PORT = 8050
_HOST = "127.0.0.1"
_PATIENCE = 10
"""After so many polls missed a page counts as closed. On a busy machine an open one misses some."""


def _print(line: str) -> None:
    print(line, file=sys.stderr)


class Dashboard:
    """The page of a run that trains some modes. Nothing that happens to it reaches the training.

    Every method may be called from any thread. ``stop_requested`` is set when somebody presses Stop Training: end the
    modes then, and `finish` each.

    Args:
        modes: what is trained, in the order of the page.
        port: where to listen; another free port where it is taken, and any free one for 0.
        poll_seconds: how often an open page asks what is new.
        say: takes a line for the user; it gets one when the page first fails, and no more.
    """

    def __init__(
        self,
        modes: Sequence[str],
        port: int = PORT,
        *,
        poll_seconds: float = 1.0,
        say: Callable[[str], None] = _print,
    ) -> None:
        self.stop_requested = threading.Event()
        self._progress = Progress(modes)
        self._port, self._poll_seconds, self._say = port, poll_seconds, say
        self._token = secrets.token_urlsafe(16)
        self._polled = float("-inf")
        self._is_closing = False
        self._end_seen = threading.Event()
        self._has_failed = False
        self._server: BaseWSGIServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The page's address, for whoever may look and stop; it ends in a secret of this run."""
        return f"http://{_HOST}:{self._port}/{self._token}/"

    def start(self) -> None:
        """Open the page at ``url``.

        Raises UsageError where Dash is not installed, or this computer lets nobody listen.
        """
        try:
            from goodharts.dashboard.app import make_app, make_server
        except ModuleNotFoundError as error:
            command = install_command("hackmatrix[dashboard]")
            raise UsageError(f"The dashboard needs {error.name}: run `{command}`, or train without it.") from None
        app = make_app(
            self._progress, self._token, self._poll_seconds, self._note_poll, self._request_stop, self._note_error
        )
        with _listen(self._port) as listener:
            self._port = listener.getsockname()[1]
            self._server = make_server(app, listener)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, name="dashboard", daemon=True
        )
        self._thread.start()

    def update(self, row: Mapping[str, Any]) -> None:
        """Show the row of an update: its mode, and numbers by name (None: unknown). Names may be missing."""
        self._progress.update(row)

    def finish(self, mode: str, sentence: str, outcome: Outcome = "failed") -> None:
        """Show how a mode ended, in a sentence that says what was saved or what failed."""
        self._progress.finish(mode, sentence, outcome)

    def close(self) -> None:
        """Let open pages see how the run ended, and stop listening; closing twice is fine."""
        if self._server is None or self._thread is None:
            return
        self._progress.end()
        self._is_closing = True
        patience = _PATIENCE * self._poll_seconds
        if time.monotonic() - self._polled < patience:
            self._end_seen.wait(patience)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._server = self._thread = None

    def _note_poll(self, shown: int | None) -> None:
        self._polled = time.monotonic()
        if self._is_closing and shown == self._progress.revision:
            self._end_seen.set()

    def _request_stop(self) -> None:
        self.stop_requested.set()
        self._progress.stop()

    def _note_error(self, error: Exception) -> None:
        if not self._has_failed:
            self._has_failed = True
            self._say(f"The dashboard failed ({type(error).__name__}: {error}). Training goes on.")


def _listen(port: int) -> socket.socket:
    """A socket at ``port`` or, where that is taken, at any free one; raises UsageError where there is none."""
    try:
        try:
            return socket.create_server((_HOST, port))
        except OSError:
            return socket.create_server((_HOST, 0))
    except OSError as error:
        raise UsageError(f"The dashboard cannot listen on {_HOST} ({error.strerror}): train without it.") from None

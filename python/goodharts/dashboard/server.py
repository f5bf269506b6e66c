"""The dashboard as the trainers' parent process uses it: a server on the loopback interface, in a thread of its own."""

import secrets
import socket
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from goodharts.dashboard.progress import Progress
from rlparity.errors import UsageError, install_command

if TYPE_CHECKING:
    from werkzeug.serving import BaseWSGIServer

PORT = 8050
_HOST = "127.0.0.1"
_PATIENCE = 10
"""After so many polls missed a page counts as closed. On a busy machine an open one misses some."""


class Dashboard(Progress):
    """The page of a run that trains some modes. Nothing that happens to it reaches the training.

    ``stop_requested`` is set when somebody presses Stop Training: end the modes then, and `finish` each. When the page
    first fails, a line on standard error says so, and no more. modes: in the order of the page. port: another free one
    where it is taken, and any free one for 0. poll_seconds: how often an open page asks what is new.
    """

    def __init__(self, modes: Sequence[str], port: int = PORT, *, poll_seconds: float = 1.0) -> None:
        super().__init__(modes)
        self._port, self._poll_seconds = port, poll_seconds
        self._token = secrets.token_urlsafe(16)
        self._polled = float("-inf")
        self._is_closing = False
        self._end_seen = threading.Event()
        self._has_failed = False
        self._running: tuple[BaseWSGIServer, threading.Thread] | None = None

    @property
    def url(self) -> str:
        """The page's address, for whoever may look and stop; it ends in a secret of this run."""
        return f"http://{_HOST}:{self._port}/{self._token}/"

    def start(self) -> None:
        """Open the page; raises UsageError where Dash is not installed, or this computer lets nobody listen."""
        try:
            from goodharts.dashboard.app import make_app, make_server
        except ModuleNotFoundError as error:
            command = install_command("hackmatrix[dashboard]")
            raise UsageError(f"The dashboard needs {error.name}: run `{command}`, or train without it.") from None
        app = make_app(self, self._token, self._poll_seconds, self._note_poll, self._note_error)
        with _listen(self._port) as listener:
            self._port = listener.getsockname()[1]
            server = make_server(app, listener)
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="dashboard", daemon=True)
        thread.start()
        self._running = server, thread

    def close(self) -> None:
        """Let open pages see how the run ended, and stop listening; closing twice is fine."""
        if self._running is None:
            return
        self.end()
        self._is_closing = True
        patience = _PATIENCE * self._poll_seconds
        if time.monotonic() - self._polled < patience:
            self._end_seen.wait(patience)
        server, thread = self._running
        server.shutdown()
        server.server_close()
        thread.join()
        self._running = None

    def _note_poll(self, revision: int | None) -> None:
        self._polled = time.monotonic()
        if self._is_closing and revision == self.revision:
            self._end_seen.set()

    def _note_error(self, error: Exception) -> None:
        if not self._has_failed:
            self._has_failed = True
            line = f"The dashboard failed ({type(error).__name__}: {error}). Training goes on."
            print(line, file=sys.stderr)


def _listen(port: int) -> socket.socket:
    """A socket at ``port`` or, where that is taken, at any free one; raises UsageError where there is none."""
    try:
        try:
            return socket.create_server((_HOST, port))
        except OSError:
            return socket.create_server((_HOST, 0))
    except OSError as error:
        raise UsageError(f"The dashboard cannot listen on {_HOST} ({error.strerror}): train without it.") from None

"""Web page of runs while they train: their figures and curves, and a button that ends them cleanly."""

import base64
import contextlib
import hashlib
import json
import math
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit

from rlparity.errors import UsageError
from rlworldkit.runs.live_state import FIGURES, Outcome, RunState
from rlworldkit.runs.sinks import Metrics
from rlworldkit.runs.stop import StopRequest

PORT = 8050
_HOST = "127.0.0.1"
_POLLS_MISSED = 10
"""Number of missed polls after which a page counts as closed. On a busy machine an open page misses some."""


class ActionLabel(NamedTuple):
    """Label of an action on the page: name, symbol, and column and row among the others (0 if irrelevant)."""

    name: str
    sign: str = ""
    column: int = 0
    row: int = 0


class LivePage:
    """Web page of some runs. Its failures never reach the training; methods may be called on any thread.

    Args:
        title: the title of the page.
        totals: the steps of each run by its name, in the order of the page.
        stop: requested when somebody presses Stop Training: then end the runs, and call ``finish`` for each.
        port: the preferred port; if it is taken, or 0, any free port.
        actions: labels for the probabilities of actions; empty: probabilities are not shown.
        poll_seconds: the interval at which an open page polls, in seconds.
    """

    def __init__(
        self,
        title: str,
        totals: Mapping[str, int],
        stop: StopRequest,
        *,
        port: int = PORT,
        actions: Sequence[ActionLabel] = (),
        poll_seconds: float = 1.0,
    ) -> None:
        self._stop = stop
        self.title, self.port, self.actions, self.poll_seconds = title, port, actions, poll_seconds
        self.runs = {name: RunState(total) for name, total in totals.items()}
        self.revision = 0
        self._token = secrets.token_urlsafe(16)
        self._lock = threading.Lock()
        self._polled, self._is_closing, self._end_seen = -math.inf, False, threading.Event()
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """Address of the page, which ends in a secret token: whoever knows it may look at the runs and stop them."""
        return f"http://{_HOST}:{self.port}/{self._token}/"

    def start(self) -> None:
        """Start the page's server; raises UsageError if this computer allows no listening socket."""
        try:
            try:
                server = _PageServer((_HOST, self.port), self._handler())
            except OSError:
                server = _PageServer((_HOST, 0), self._handler())
        except OSError as error:
            raise UsageError(f"The dashboard cannot listen on {_HOST} ({error.strerror}): train without it.") from None
        self._server, self.port = server, server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.1,), name="dashboard", daemon=True).start()

    @contextlib.contextmanager
    def opened(self, print_line: Callable[[str], None]) -> Iterator[Self]:
        """Serve the page in a context, and print its address, or why it is unavailable; training goes on anyway."""
        try:
            self.start()
            print_line(f"Dashboard: {self.url}")
        except UsageError as error:
            print_line(f"{error} Training goes on without the dashboard.")
        with contextlib.closing(self):
            yield self

    def write(self, metrics: Metrics, run: str) -> None:
        """Show the newest metrics of a run."""
        with self._lock:
            self.runs[run].add(metrics)
            self.revision += 1

    def finish(self, run: str, outcome: Outcome, sentence: str = "") -> None:
        """Show how a run ended, in a sentence that says what was saved or what failed."""
        with self._lock:
            self.runs[run].state, self.runs[run].sentence = outcome, sentence
            self.revision += 1

    def stop(self) -> None:
        """Ask the runs to end, and show the request."""
        self._stop.requested = True
        with self._lock:
            self.revision += 1

    def close(self) -> None:
        """Let open pages fetch how the runs ended, and stop the server; closing twice is fine."""
        for name, run in self.runs.items():
            if run.state in ("waiting", "training"):
                self.finish(name, "finished" if run.newest.get("timesteps", 0) >= run.total else "stopped")
        server, self._server = self._server, None
        if server is None:
            return
        self._is_closing = True
        patience = _POLLS_MISSED * self.poll_seconds
        if time.monotonic() - self._polled < patience:
            self._end_seen.wait(patience)
        server.shutdown()
        server.server_close()

    def answer(self, shown: int) -> dict[str, Any]:
        """Answer a poll of a page that shows the revision ``shown``: what is new, as JSON values."""
        self._polled = time.monotonic()
        with self._lock:
            if shown == self.revision:
                if self._is_closing:
                    self._end_seen.set()
                return {"revision": shown}
            runs = [{"name": name, **run.plain(len(self.actions))} for name, run in self.runs.items()]
            return {"revision": self.revision, "is_stopping": self._stop.requested, "runs": runs}

    @cached_property
    def document(self) -> tuple[bytes, str]:
        """The page, and a content security policy that allows only its own style and script."""
        page, elements = files("rlworldkit.runs").joinpath("live_page.html"), files("rlparity.viewer")
        given = {"title": self.title, "poll": 1000 * self.poll_seconds, "figures": FIGURES, "actions": self.actions}
        head, style, script = page.read_text(encoding="utf-8").split("<!-- -->\n")
        helpers = elements.joinpath("elements.js").read_text(encoding="utf-8")
        code = f"\nconst given = {json.dumps(given)};\n{helpers}\n{script}"
        text = f'{head}<style>{style}</style>\n<script type="module">{code}</script>\n'
        policy = (
            f"default-src 'none'; connect-src 'self'; img-src data:; style-src {_hash(style)}; "
            f"script-src {_hash(code)}; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
        )
        return text.encode(), policy

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        return type("Handler", (_Handler,), {"page": self, "root": f"/{self._token}/"})


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class _PageServer(ThreadingHTTPServer):
    """HTTP server that reports an error of the page once, and ignores those that clients cause."""

    daemon_threads = True
    allow_reuse_address = False
    _has_failed = False

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any) -> None:  # noqa: ANN401
        error = sys.exception()
        if not isinstance(error, OSError) and not self._has_failed:
            self._has_failed = True
            print(f"The dashboard failed ({type(error).__name__}: {error}). Training goes on.", file=sys.stderr)


class _Handler(BaseHTTPRequestHandler):
    """Handles requests, and refuses those that do not come from the page on this computer.

    The token keeps out other users of the computer and other sites; the Host header keeps out a site whose name was
    made to resolve to this computer (DNS rebinding).
    """

    page: LivePage
    root: str
    timeout = 30

    def do_GET(self) -> None:
        """Send the page, or what is new."""
        if not self._is_refused():
            address = urlsplit(self.path)
            if address.path == self.root:
                text, policy = self.page.document
                self._send(200, text, "text/html; charset=utf-8", policy)
            elif address.path == f"{self.root}new":
                shown = parse_qs(address.query).get("shown", ["-1"])[0]
                found = self.page.answer(int(shown) if shown.isdecimal() else -1)
                self._send(200, json.dumps(found).encode(), "application/json")
            else:
                self._send(404)

    def do_POST(self) -> None:
        """Handle the stop button."""
        if not self._is_refused():
            is_known = self.path == f"{self.root}stop"
            if is_known:
                self.page.stop()
            self._send(204 if is_known else 404)

    def log_message(self, format: str, *args: object) -> None:
        """Drop a line of the log, since the terminal shows the training."""

    def _is_refused(self) -> bool:
        host = self.headers.get("Host", "")
        if host not in (f"{name}:{self.page.port}" for name in (_HOST, "localhost")):
            self._send(400)
        elif self.headers.get("Origin", f"http://{host}") != f"http://{host}":
            self._send(403)
        else:
            return False
        return True

    def _send(self, status: int, content: bytes = b"", kind: str = "text/plain", policy: str = "") -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": policy or "default-src 'none'; frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

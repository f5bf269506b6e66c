"""The web application: access to the page and its stop button, and the data that a poll returns."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from dash import Dash, Input, Output, State, no_update
from dash.dependencies import ClientsideFunction
from flask import Flask, Response, abort, request
from werkzeug import serving
from werkzeug.exceptions import HTTPException

from goodharts.dashboard import page
from goodharts.dashboard.progress import Progress

HOSTS = ["127.0.0.1", "localhost"]
"""Names of this computer in the address of the page."""

_INDEX = """<!DOCTYPE html>
<html lang="en">
<head>{%metas%}<title>{%title%}</title>{%favicon%}{%css%}</head>
<body>{%app_entry%}<footer>{%config%}{%scripts%}{%renderer%}</footer></body>
</html>"""


OnPoll = Callable[[int | None], None]
"""Called with the revision that a page shows whenever it asks what is new."""
OnError = Callable[[Exception], None]
"""Called with an error behind the page, which gets status 500."""


def make_app(progress: Progress, token: str, poll_seconds: float, on_poll: OnPoll, on_error: OnError) -> Flask:
    """The page of a run, under the path of its token, and nothing anywhere else."""
    app = Dash(
        __name__,
        url_base_pathname=f"/{token}/",
        title="Goodharts training",
        update_title="",
        index_string=_INDEX,
        meta_tags=[
            {"name": "viewport", "content": "width=device-width, initial-scale=1"},
            {"name": "color-scheme", "content": "light dark"},
        ],
        add_log_handler=False,
    )
    app.layout = page.layout(poll_seconds)
    _add_callbacks(app, progress, on_poll)
    _protect(app, on_error)
    server: Flask = app.server
    return server


class _SilentHandler(serving.WSGIRequestHandler):
    """Prints nothing of requests: the terminal is the training's."""

    def log(self, type: str, message: str, *args: object) -> None:
        """Drop a line of the log."""


def make_server(app: Flask, listener: socket.socket) -> serving.BaseWSGIServer:
    """A server for ``app``, a thread for each request, at a copy of a socket that listens."""
    host, port = listener.getsockname()
    return serving.make_server(host, port, app, threaded=True, request_handler=_SilentHandler, fd=listener.fileno())


def _add_callbacks(app: Dash, progress: Progress, on_poll: OnPoll) -> None:
    output = {
        "answered": Output("answered", "data"),
        "shown": Output("shown", "data"),
        "is_over": Output("is-over", "data"),
        "headline": Output("headline", "children"),
        "cannot_stop": Output("stop", "disabled"),
        "modes": Output("modes", "children"),
        "width": Output("width", "children"),
        **{metric.key: Output(f"chart-{metric.key}", "figure") for metric in page.METRICS},
    }

    @app.callback(output=output, inputs={"poll": Input("poll", "data"), "shown": State("shown", "data")})
    def answer(poll: int, shown: int | None) -> dict[str, Any]:
        on_poll(shown)
        if shown == progress.revision:
            return {**dict.fromkeys(output, no_update), "answered": poll}
        run = progress.view()
        return {
            "answered": poll,
            "shown": run.revision,
            "is_over": run.is_over,
            "headline": page.headline(run),
            "cannot_stop": run.is_stopping or run.is_over,
            "modes": [page.card(mode) for mode in run.modes],
            "width": page.width(run),
            **{metric.key: page.figure(run, metric) for metric in page.METRICS},
        }

    @app.callback(Input("stop-confirmed", "submit_n_clicks"), prevent_initial_call=True)
    def stop(_: int | None) -> None:
        progress.stop()

    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("goodharts", "ask"),
        Output("poll", "data"),
        Input("clock", "n_intervals"),
        State("poll", "data"),
        State("answered", "data"),
        prevent_initial_call=True,
    )
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("goodharts", "lost"),
        Output("lost", "hidden"),
        Output("lost", "children"),
        Input("clock", "n_intervals"),
        State("answered", "data"),
        State("is-over", "data"),
    )


def _protect(app: Dash, on_error: OnError) -> None:
    """Let in this computer's own pages alone, let nothing out, and hand errors over instead of printing them.

    The token keeps out other users of the computer and other sites; naming the hosts keeps out a site whose name was
    made to lead here (DNS rebinding).
    """
    server: Flask = app.server
    server.config["TRUSTED_HOSTS"] = HOSTS
    # Plotly and React write styles into the page.
    policy = (
        f"default-src 'self'; script-src 'self' {' '.join(app.csp_hashes())}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }

    @server.before_request
    def refuse_foreign_pages() -> None:
        if request.headers.get("Origin", f"http://{request.host}") != f"http://{request.host}":
            abort(403)

    @server.after_request
    def confine(response: Response) -> Response:
        response.headers.update(headers)
        return response

    @server.errorhandler(Exception)
    def hand_over(error: Exception) -> HTTPException | tuple[str, int]:
        if isinstance(error, HTTPException):
            return error
        on_error(error)
        return "The dashboard failed; training goes on.", 500

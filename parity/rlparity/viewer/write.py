"""A page as one HTML file that needs nothing else: no network, no other file, no server."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path

from rlparity.io.atomic_write import replacing, telling_failures
from rlparity.io.strict_json import json_text
from rlparity.viewer.data import BoardExtent, Value, episode_data, episode_row, page_data
from rlparity.viewer.page import Page
from rlparity.world import World

SCRIPTS = ("elements.js", "page.js", "board.js", "charts.js", "overview.js", "episode.js", "main.js")
"""The parts of the page's one module, in their order."""


def write_page(page: Page, world: World, path: Path) -> None:
    """Write a page, episode by episode, as they are taken; only one is held at a time.

    The file is there once all of it is written; until then, and otherwise, what was there before stays.

    Raises:
        UsageError: the file cannot be written.
    """
    head, tail = _template()
    with _replaced(path) as write:
        write(head)
        rows: list[Value] = []
        seen = BoardExtent()
        for number, episode in enumerate(page.episodes):
            steps = tuple(episode.steps)
            write(f'<script type="text/plain" id="episode-{number}">{packed(episode_data(episode, steps))}</script>\n')
            rows.append(episode_row(episode, steps, world))
            seen = seen.and_in(steps)
        whole = page_data(page, world, rows, seen)
        write(f'<script type="application/json" id="page">{script_text(whole)}</script>')
        write(tail)


def packed(value: Value) -> str:
    """A JSON value as text without any markup: compressed by gzip, in base64."""
    text = json_text(value, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("ascii"), mtime=0)).decode("ascii")


def script_text(value: Value) -> str:
    """A JSON value as the text of a script element, which no "<" in it can close."""
    return json_text(value, separators=(",", ":")).replace("<", "\\u003c")


def _template() -> tuple[str, str]:
    folder = files("rlparity.viewer")
    style = folder.joinpath("viewer.css").read_text(encoding="utf-8")
    script = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    # Nothing but this very style and script, and no request at all: whatever the data says, it cannot act.
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'"
    text = folder.joinpath("viewer.html").read_text(encoding="utf-8")
    for place, content in (("POLICY", policy), ("STYLE", style), ("SCRIPT", script)):
        text = text.replace(f"__{place}__", content)
    head, tail = text.split("__EPISODES__")
    return head, tail


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@contextmanager
def _replaced(path: Path) -> Iterator[Callable[[str], None]]:
    """A function that writes text to a file that takes the place of ``path`` once the context ends well.

    Only what goes wrong with the file is reported as such, not what fails meanwhile.
    """
    with ExitStack() as replacement:
        with telling_failures(path):
            file = replacement.enter_context(replacing(path))

        def write(text: str) -> None:
            with telling_failures(path):
                file.write(text.encode())

        yield write
        with telling_failures(path):
            replacement.close()

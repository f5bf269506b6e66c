"""Opens pages in headless Chromium as a person would: from the disk."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Route

from rlparity import World
from rlparity.viewer.page import Page as Content
from rlparity.viewer.write import write_page

Open = Callable[..., Page]


@pytest.fixture
def complaints() -> list[str]:
    """Console messages of the opened pages, and their requests beside themselves."""
    return []


@pytest.fixture
def open_page(context: BrowserContext, complaints: list[str], tmp_path: Path) -> Iterator[Open]:
    """Write a page of a world and open it at a fragment; the test fails if it complains or asks for anything else."""
    opened: list[Page] = []

    def hear(message: ConsoleMessage) -> None:
        complaints.append(f"{message.type}: {message.text}")

    def open_page(content: Content, world: World, fragment: str = "") -> Page:
        path = tmp_path / f"page-{len(opened)}.html"
        write_page(content, world, path)
        page = context.new_page()
        opened.append(page)

        def only_itself(route: Route) -> None:
            if route.request.url.partition("#")[0] == path.as_uri():
                route.continue_()
            else:
                complaints.append(f"asked for {route.request.url}")
                route.abort()

        page.on("console", hear)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.route("**/*", only_itself)
        page.goto(path.as_uri() + fragment)
        return page

    yield open_page
    for page in opened:
        page.close()
    assert complaints == []

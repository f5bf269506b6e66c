"""Draw the pictures of pages for docs/how-to/watch-play-evaluate.md, in headless Chromium.

python studies/page_pictures.py PAGE [--episode N] [--step N]
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser
from shared.pictures import IMAGES, browser

from rlparity.errors import ParityError
from rlparity.io.arguments import SEED, Parser
from rlworldkit.cli.outputs import fail


@dataclass(frozen=True)
class Picture:
    """A picture of a page. fragment: of its address. height: of the screen in pixels. heading: to scroll to."""

    name: str
    fragment: str
    height: int = 900
    heading: str | None = None


def main() -> None:
    """Read the command line, and draw."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path, help="a page that `hackmatrix view` wrote")
    parser.add_argument("--episode", type=SEED, default=4, help="the episode shown, from 0 (default 4)")
    parser.add_argument("--step", type=SEED, default=30, help="and its step (default 30)")
    args = parser.parse_args()
    if not os.path.isfile(args.page):
        parser.error(f"there is no page {args.page}: write one with `hackmatrix view` first")
    try:
        draw(args.page, f"#episode={args.episode}&step={args.step}")
    except ParityError as error:
        fail(error)


def draw(path: Path, fragment: str) -> None:
    """Draw a page's overview of where games end, and one of its steps; raises UsageError without a browser."""
    pictures = (
        Picture("page_ends.png", "", heading="Where games end"),
        Picture("page_episode.png", fragment, height=1000),
    )
    with browser() as opened:
        for picture in pictures:
            take(opened, path.resolve().as_uri(), picture)


def take(opened: Browser, address: str, picture: Picture) -> None:
    """Write one picture, once the page has loaded."""
    page = opened.new_page(viewport={"width": 1280, "height": picture.height}, color_scheme="light")
    page.goto(address + picture.fragment)
    page.locator("h2:visible").first.wait_for()
    if picture.heading:
        page.get_by_role("heading", name=picture.heading).evaluate("heading => heading.scrollIntoView()")
    page.screenshot(path=IMAGES / picture.name)
    page.close()


if __name__ == "__main__":
    main()

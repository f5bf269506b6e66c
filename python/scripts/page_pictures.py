"""Make the pictures of pages in docs/watching.md, in headless Chromium."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from hackmatrix.view.agent import Games, agent_page
from hackmatrix.watch.agents import load_agent
from hackmatrix.watch.play import Watched
from hackmatrix.world import WORLD
from parity.arguments import SEED, STEPS, Parser
from parity.errors import ParityError, UsageError
from parity.viewer.write import write_page
from worldkit.cli.parser import fail

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MOST_STEPS = 5000


@dataclass(frozen=True)
class Picture:
    """A picture of a page: where in it, how wide and how high the screen is in pixels, and in which colours."""

    name: str
    fragment: str
    width: int = 1280
    height: int = 900
    colours: str = "light"


def main() -> None:
    """Read the command line, play and draw."""
    parser = Parser(description=__doc__)
    parser.add_argument("params", type=Path, help="a params_*.npz file")
    parser.add_argument("--episodes", type=STEPS, default=500, help="(default 500)")
    parser.add_argument("--episode", type=SEED, default=4, help="the episode shown (default 4)")
    parser.add_argument("--step", type=SEED, default=30, help="and its step (default 30)")
    args = parser.parse_args()
    try:
        draw(args.params, args.episodes, f"#episode={args.episode}&step={args.step}")
    except ParityError as error:
        fail(error)


def draw(params: Path, count: int, fragment: str) -> None:
    """Draw where ``count`` games of an agent end, and one of its steps; raises ParityError for a bad file."""
    games = Games(0, count, "swift", MOST_STEPS)
    command = f"hackmatrix view {params.name} --episodes {count} --stochastic"
    page = agent_page(f"{params.name}, drawn actions", Watched(load_agent(params), deterministic=False), games, command)
    pictures = (
        Picture("page_ends.png", ""),
        Picture("page_episode.png", fragment),
        Picture("page_dark.png", fragment, colours="dark"),
        Picture("page_phone.png", fragment, width=360, height=800),
    )
    with tempfile.TemporaryDirectory() as folder, browser() as opened:
        path = Path(folder) / "page.html"
        write_page(page, WORLD, path)
        for picture in pictures:
            take(opened, path.as_uri(), picture)


def take(opened: Browser, address: str, picture: Picture) -> None:
    """Write one picture, once its page has settled."""
    size = {"width": picture.width, "height": picture.height}
    page = opened.new_page(viewport=size, color_scheme=picture.colours)  # type: ignore[arg-type] # one of its two words
    page.goto(address + picture.fragment)
    page.get_by_role("heading", level=2).first.wait_for()
    page.screenshot(path=IMAGES / picture.name)
    page.close()


@contextmanager
def browser() -> Iterator[Browser]:
    """The system's Chromium; raises UsageError where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise UsageError(f"There is no {' or '.join(BROWSERS)} on the PATH: install one of them.")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


if __name__ == "__main__":
    main()

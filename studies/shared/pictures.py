"""Helpers of the scripts that draw the documents' pictures."""

import argparse
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from rlparity.errors import ParityError, UsageError
from rlparity.io.arguments import SEED, STEPS, Parser
from rlworldkit.cli.outputs import fail

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def draw_moment(description: str | None, draw: Callable[[Path, int, int], None], step: int) -> None:
    """Read the command line of a script that draws one moment of an agent's game, and draw it.

    Args:
        description: the script's docstring, which is its help text.
        draw: ``draw(file, seed, step)``, with the agent's file and the first seed; raises ParityError where it cannot.
        step: default of the step to draw.
    """
    parser = Parser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("params", type=Path, help="a params_*.npz file")
    parser.add_argument("--seed", type=SEED, default=31, help="the first game that may be shown (default 31)")
    parser.add_argument("--step", type=STEPS, default=step, help="the step shown of the first that lasts so long")
    args = parser.parse_args()
    try:
        draw(args.params, args.seed, args.step)
    except ParityError as error:
        fail(error)


def write_svg(name: str, drawn: str) -> None:
    """Write the SVG of a terminal without its web fonts, which a browser would download."""
    (IMAGES / name).write_text(re.sub(r"@font-face {.*?}\n", "", drawn, flags=re.DOTALL), encoding="utf-8")


@contextmanager
def browser() -> Iterator[Browser]:
    """Open the system's Chromium; raises UsageError where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise UsageError(f"There is no {' or '.join(BROWSERS)} on the PATH: install one of them.")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()

"""Make the pictures of docs/watching.md: one moment of a game, as the window and as the terminal show it."""

import io
import os
import re
from contextlib import closing
from itertools import islice
from pathlib import Path

from rich.console import Console

from hackmatrix.watch.agents import load_agent
from hackmatrix.watch.controls import Controls
from hackmatrix.watch.play import Watched, games
from hackmatrix.watch.text import TALL, page
from hackmatrix.world import WORLD
from parity.arguments import SEED, STEPS, Parser
from parity.errors import ParityError
from worldkit.cli.parser import fail
from worldkit.envs.episodes import Episodes

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


def main() -> None:
    """Read the command line, and draw."""
    parser = Parser(description=__doc__)
    parser.add_argument("params", type=Path, help="a params_*.npz file")
    parser.add_argument("--seed", type=SEED, default=31)
    parser.add_argument("--step", type=STEPS, default=24)
    args = parser.parse_args()
    try:
        draw(args.params, args.seed, args.step)
    except ParityError as error:
        fail(error)


def draw(path: Path, seed: int, step: int) -> None:
    """Draw the moment after so many steps; raises ParityError for a bad file, or where the game is over before."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    import pygame

    from hackmatrix.watch.picture import draw_moment

    with closing(Episodes(WORLD, 1, "swift")) as episodes:
        (game,) = games(episodes, Watched(load_agent(path), deterministic=False), seed, 1)
        moment = next(islice(game, step, None), None)
    if moment is None:
        raise ParityError(f"game {seed} is over before step {step}: choose another --seed or --step.")
    caption, controls = f"{path.name}, drawn actions, swift", Controls(4)
    pygame.image.save(draw_moment(moment, caption, controls), IMAGES / "watch_window.png")
    console = Console(record=True, width=TALL[0], file=io.StringIO(), force_terminal=True)
    console.print(page(moment, controls, caption, TALL[0]))
    drawn = console.export_svg(title="hackmatrix watch")
    without_fonts = re.sub(r"@font-face {.*?}\n", "", drawn, flags=re.DOTALL)  # which would be fetched from elsewhere
    (IMAGES / "watch_terminal.svg").write_text(without_fonts, encoding="utf-8")


if __name__ == "__main__":
    main()

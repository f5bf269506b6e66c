"""Make the pictures of docs/watching.md and the README: one moment of a game in the window, the terminal, and alone.

python studies/watch_pictures.py PARAMS [--seed N] [--step N]
"""

import io
import os
from contextlib import closing
from itertools import islice
from pathlib import Path

from rich.console import Console
from shared.pictures import IMAGES, draw_moment, write_svg

from hackmatrix.watch.agents import load_agent
from hackmatrix.watch.controls import Controls
from hackmatrix.watch.play import Watched, games
from hackmatrix.watch.text import TALL, page
from hackmatrix.world import WORLD
from parity.errors import ParityError
from worldkit.envs.episodes import Episodes

_TRIED = 100


def draw(path: Path, seed: int, step: int) -> None:
    """Draw the moment after so many steps; raises ParityError for a bad file, or where all games are over before."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    import pygame

    from hackmatrix.render.picture import draw_surface
    from hackmatrix.watch.picture import draw_moment

    with closing(Episodes(WORLD, 1, "swift")) as episodes:
        played = games(episodes, Watched(load_agent(path), deterministic=False), seed, _TRIED)
        reached = (next(islice(game, step, None), None) for game in played)
        moment = next((moment for moment in reached if moment), None)
    if moment is None:
        raise ParityError(f"{_TRIED} games are over before step {step}: choose a smaller --step.")
    pygame.image.save(draw_surface(moment.board), IMAGES / "board.png")
    caption, controls = f"{path.name}, drawn actions, swift", Controls(4)
    pygame.image.save(draw_moment(moment, caption, controls), IMAGES / "watch_window.png")
    console = Console(record=True, width=TALL[0], file=io.StringIO(), force_terminal=True)
    console.print(page(moment, controls, caption, TALL[0]))
    write_svg("watch_terminal.svg", console.export_svg(title="hackmatrix watch"))


if __name__ == "__main__":
    draw_moment(__doc__, draw, step=24)

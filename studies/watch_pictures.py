"""Draw frames of a game for docs/how-to/watch-play-evaluate.md and the README: the window, and the board alone.

python studies/watch_pictures.py PARAMS [--seed N] [--step N]
"""

import os
from contextlib import closing
from itertools import islice
from pathlib import Path

from shared.pictures import IMAGES, draw_moment

from hackmatrix.world import WORLD
from rlparity.errors import ParityError
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.reader import read_agent
from rlworldkit.envs.episodes import Episodes
from rlworldkit.render.show import picture_of
from rlworldkit.show.watch.controls import Controls
from rlworldkit.show.watch.frames import games

_TRIED = 100


def draw(path: Path, seed: int, step: int) -> None:
    """Draw the frame after ``step`` steps; raises ParityError for a bad file, or where all games end before."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    import pygame

    from rlworldkit.render.pen import surface_of
    from rlworldkit.show.watch.picture import draw_frame

    with closing(Episodes(WORLD, 1, engine="swift")) as episodes:
        played = games(episodes, AgentPlayer(read_agent(WORLD, path)), seed, _TRIED)
        reached = (next(islice(game, step, None), None) for game in played)
        frame = next((frame for frame in reached if frame), None)
    if frame is None:
        raise ParityError(f"{_TRIED} games are over before step {step}: choose a smaller --step.")
    pygame.image.save(surface_of(picture_of(WORLD, frame.state)), IMAGES / "board.png")
    caption, controls = f"{path.name}, drawn actions, swift", Controls(4)
    pygame.image.save(draw_frame(frame, caption, controls), IMAGES / "watch_window.png")


if __name__ == "__main__":
    draw_moment(__doc__, draw, step=24)

"""Draw a game in the terminal for docs/how-to/watch-play-evaluate.md, after an agent has played for a while.

python studies/play_pictures.py PARAMS [--seed N] [--step N]
"""

import asyncio
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from shared.pictures import draw_moment, write_svg

from hackmatrix.world import WORLD
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.reader import read_agent
from rlworldkit.show.play.app import PlayApp
from rlworldkit.show.play.game import PlayEngine
from rlworldkit.show.play.panes import layout_of
from rlworldkit.show.play.session import PlaySession
from rlworldkit.show.watch.controls import Controls


def draw(path: Path, seed: int, step: int) -> None:
    """Draw the game after ``step`` steps; raises ParityError for a bad file."""
    player = AgentPlayer(read_agent(WORLD, path))
    with closing(PlayEngine(WORLD, "swift")) as engine, TemporaryDirectory() as folder:
        session = PlaySession(engine, seed, Path(folder) / "game.json", player)
        while len(session.game.turns) < step:
            if session.game.ending:
                session.next_game()
            if not session.agent_plays:
                session.toggle_agent()
            session.let_agent_act()
        session.agent_plays = False
        write_svg("play_terminal.svg", asyncio.run(_screen(session)))


async def _screen(session: PlaySession) -> str:
    """Take an SVG screenshot of the smallest playable screen."""
    app = PlayApp(session, Controls(4))
    async with app.run_test(size=layout_of(session, large=False).size) as pilot:
        await pilot.pause()
        return app.export_screenshot(title="hackmatrix play")


if __name__ == "__main__":
    draw_moment(__doc__, draw, step=12)

"""Make the picture of docs/playing.md: a game in the terminal, after an agent has played for a while."""

import asyncio
import re
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hackmatrix.play.app import PlayApp
from hackmatrix.play.panes import HEIGHT, WIDTH
from hackmatrix.play.session import Session
from hackmatrix.play.table import open_table
from hackmatrix.watch.agents import load_agent
from hackmatrix.watch.controls import Controls
from hackmatrix.watch.play import Watched
from parity.arguments import SEED, STEPS, Parser
from parity.errors import ParityError
from worldkit.cli.parser import fail

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


def main() -> None:
    """Read the command line, and draw."""
    parser = Parser(description=__doc__)
    parser.add_argument("params", type=Path, help="a params_*.npz file")
    parser.add_argument("--seed", type=SEED, default=31, help="the first game that may be shown (default 31)")
    parser.add_argument("--step", type=STEPS, default=12, help="the step shown of the first that lasts so long")
    args = parser.parse_args()
    try:
        draw(args.params, args.seed, args.step)
    except ParityError as error:
        fail(error)


def draw(path: Path, seed: int, step: int) -> None:
    """Draw the game after so many steps; raises ParityError for a bad file."""
    player = Watched(load_agent(path), deterministic=False)
    with closing(open_table("swift")) as table, TemporaryDirectory() as folder:
        session = Session(table, seed, Path(folder) / "game.json", player)
        while len(session.game.turns) < step:
            if session.game.ending:
                session.next_game()
            if not session.agent_plays:
                session.toggle_agent()
            session.let_agent_act()
        session.agent_plays = False
        drawn = asyncio.run(_screen(session))
    without_fonts = re.sub(r"@font-face {.*?}\n", "", drawn, flags=re.DOTALL)  # which would be fetched from elsewhere
    (IMAGES / "play_terminal.svg").write_text(without_fonts, encoding="utf-8")


async def _screen(session: Session) -> str:
    """The smallest screen on which one can play, as SVG."""
    app = PlayApp(session, Controls(4))
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        return app.export_screenshot(title="hackmatrix play")


if __name__ == "__main__":
    main()

"""What is said of actions and what came of them, in a line or two."""

from pathlib import Path
from textwrap import shorten

from worldkit.play.game import PlayedGame, Turn
from worldkit.play.table import Components
from worldkit.render.panels import Panels

LINE = 80
"""The most columns of a line that is said."""
MORE = " … (R shows all)"


def signed(reward: float) -> str:
    """A reward with its sign and without idle digits: ``+0.3``, ``-0.01``, ``0``."""
    return f"{reward:+.5f}".rstrip("0").rstrip(".") if reward else "0"


def earned(game: PlayedGame, components: Components) -> str:
    """The sum and the components that are not 0: ``+0.29 = -0.01 step_penalty, +0.3 kills``."""
    *values, total = game.in_rewards((*components, sum(components)))
    named = zip(game.view.world.components, values, strict=True)
    parts = [f"{signed(value)} {name}" for name, value in named if value]
    return f"{signed(total)} = {', '.join(parts)}" if parts else "0"


def shortened(path: Path, room: int = LINE) -> str:
    """The path, without its beginning where it is longer than ``room`` columns."""
    text = str(path)
    return text if len(text) <= room else f"…{text[1 - room :]}"


def turn_line(game: PlayedGame, number: int, turn: Turn) -> str:
    """A step of the log: ``step 12, you: WARP +0.29 = …``."""
    who = "agent" if turn.by_agent else "you"
    return f"step {number}, {who}: {game.view.world.actions[turn.action]} {earned(game, turn.components)}"


def last_turn(game: PlayedGame) -> str:
    """The last step in two lines at most."""
    return shorten(turn_line(game, len(game.turns), game.turns[-1]), 2 * LINE - len(MORE), placeholder=MORE)


def outlook(panels: Panels, game: PlayedGame, ahead: PlayedGame) -> tuple[str, str]:
    """What the last action of ``ahead``, which is ``game`` and one action more, earns and changes; a line each."""
    turn = ahead.turns[-1]
    would = f"{game.view.world.actions[turn.action]} would earn {earned(game, turn.components)}"
    changed = ", ".join(panels.changes(game.position.state, ahead.position.state)) or "nothing that is counted changes"
    return shorten(would, LINE, placeholder=MORE), shorten(changed, LINE, placeholder=" …")

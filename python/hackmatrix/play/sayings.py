"""What is said of actions and what came of them, in a line or two."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

from hackmatrix.explain.readings import reward_text
from hackmatrix.play.game import Game, Turn
from hackmatrix.play.table import Components
from hackmatrix.render.model import BoardModel
from hackmatrix.rules import ACTIONS, COMPONENTS

LINE = 80
"""The most columns of a line that is said."""
MORE = " … (R shows all)"

_NUMBERS = ("hp", "credits", "energy", "data_siphons", "attack_damage", "score", "stage")


def signed(thousandths: int) -> str:
    """A reward with its sign and without idle digits: ``+0.3``, ``-0.01``, ``0``."""
    return f"{'+' if thousandths > 0 else ''}{reward_text(thousandths)}"


def earned(components: Components) -> str:
    """The sum and the components that are not 0: ``+0.29 = -0.01 step_penalty, +0.3 kills``."""
    parts = [f"{signed(value)} {name}" for name, value in zip(COMPONENTS, components, strict=True) if value]
    return f"{signed(sum(components))} = {', '.join(parts)}" if parts else "0"


def shortened(path: Path, room: int = LINE) -> str:
    """The path, without its beginning where it is longer than ``room`` columns."""
    text = str(path)
    return text if len(text) <= room else f"…{text[1 - room :]}"


def turn_line(number: int, turn: Turn) -> str:
    """A step of the log: ``step 12, you: WARP +0.29 = …``."""
    who = "agent" if turn.by_agent else "you"
    return f"step {number}, {who}: {ACTIONS[turn.action]} {earned(turn.components)}"


def last_turn(game: Game) -> str:
    """The last step in two lines at most."""
    return shorten(turn_line(len(game.turns), game.turns[-1]), 2 * LINE - len(MORE), placeholder=MORE)


def outlook(game: Game, ahead: Game) -> tuple[str, str]:
    """What the last action of ``ahead``, which is ``game`` and one action more, earns and changes; a line each."""
    turn = ahead.turns[-1]
    would = f"{ACTIONS[turn.action]} would earn {earned(turn.components)}"
    changed = ", ".join(_changes(game.board, ahead.board)) or "nothing that is counted changes"
    return shorten(would, LINE, placeholder=MORE), shorten(changed, LINE, placeholder=" …")


def _changes(before: BoardModel, after: BoardModel) -> Iterator[str]:
    if after.won or after.dead:
        yield "you win" if after.won else "you die"
    for name in _NUMBERS:
        if getattr(before, name) != getattr(after, name):
            yield f"{name.replace('_', ' ')} {getattr(before, name)} → {getattr(after, name)}"
    for name, was, now in (
        ("enemies", _count(before, "enemy"), _count(after, "enemy")),
        ("transmissions", _count(before, "transmission"), _count(after, "transmission")),
    ):
        if was != now:
            yield f"{name} {was} → {now}"
    yield from (f"+{name}" for name in after.owned_programs if name not in before.owned_programs)
    yield from (f"-{name}" for name in before.owned_programs if name not in after.owned_programs)


def _count(board: BoardModel, kind: str) -> int:
    return sum(getattr(cell, kind) is not None for cell in board.cells)

"""``Panels``: the parts of the play screen that a world can customize."""

from collections.abc import Iterator
from dataclasses import dataclass

from rlparity import State, World
from rlworldkit.render.spans import FAINT, Line

_ARROWS = {"up": "↑", "down": "↓", "left": "←", "right": "→"}
LEAVE = "q"


@dataclass(frozen=True)
class Obstacle:
    """A reason why an action is invalid.

    reason: in words. rules: ids of the rules behind it. brief: reason in at most 11 characters, for a narrow column.
    """

    reason: str
    rules: str
    brief: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.rules})" if self.rules else self.reason


class Panels:
    """Board, numbers, keys and notes on actions of the play screen; a world's subclass overrides some of them.

    The defaults show ``World.draw``, with arrow keys for actions named after them and letters for the rest.

    world: the world. engine: the name of the engine that is played on.

    hint: what the keys of the actions do. cell_width: columns of a drawn cell.
    beside: number of actions, from the first on, that are shown below the numbers; the others are below the board.
    usual: the brief obstacle that is so common that it is shown faintly.
    large_size: columns and lines of a screen from which on the board is large; None: there is no large board.
    """

    hint = "arrows and letters beside actions play them"
    cell_width = 8
    beside = 0
    usual = ""
    large_size: tuple[int, int] | None = None

    def __init__(self, world: World, engine: str) -> None:
        self.world, self.engine = world, engine

    @property
    def keys(self) -> tuple[str, ...]:
        """Key of each action: an arrow's name or a letter other than ``q``."""
        letters = iter("abcdefghijklmnoprstuvwxyz")
        return tuple(name if name in _ARROWS else next(letters) for name in self.world.actions)

    @property
    def signs(self) -> tuple[str, ...]:
        """Displayed form of each action's key, one column wide."""
        return tuple(_ARROWS.get(key, key) for key in self.keys)

    @property
    def legend(self) -> tuple[str, ...]:
        """Legend of the signs on the board."""
        return tuple(f"{sign} {meaning}" for sign, meaning in self.world.signs.items())

    def board(self, state: State, *, large: bool) -> list[Line]:
        """Return the board, with the same number of lines and columns for all states."""
        return [[span for text in row for span in self._cell(text)] for row in self.world.draw(state).rows]

    def numbers(self, state: State, *, large: bool) -> list[list[Line]]:
        """Return the numbers, with the same number of lines for all states, each of one part or more."""
        return [[[(f"{name} {value}", "")]] for name, value in self.world.draw(state).scalars.items()]

    def cost(self, action: int) -> str:
        """Return the cost of the action, in as few columns as possible; empty: none is shown."""
        return ""

    def obstacle(self, state: State, action: int) -> Obstacle | None:
        """Return the reason why the action is invalid; None if it is valid, or the reason is unknown."""
        return None

    def changes(self, before: State, after: State) -> Iterator[str]:
        """Describe the changes from one state to another, in a few words each."""
        was, now = (self.world.draw(state).scalars for state in (before, after))
        yield from (f"{name} {was[name]} → {now[name]}" for name in now if was[name] != now[name])

    def _cell(self, text: str) -> Line:
        colour = self.world.colour_of(text) if self.world.colour_of else None
        style = "#{:02x}{:02x}{:02x}".format(*colour) if colour else ""
        return [(f"{text[: self.cell_width] or '·':{self.cell_width}}", style if text else FAINT)]

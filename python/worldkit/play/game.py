"""A game that a person plays, as a value: what was done, by whom, what it earned, where that led, and its file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten

import numpy as np

from parity.errors import UsageError
from parity.trace import Case, Trace, write_trace
from worldkit.play.table import Components, Position
from worldkit.render.panels import Panels
from worldkit.watch.frames import Frame
from worldkit.watch.spec import ViewSpec

LINE = 80
"""The most columns of a line."""
MORE = " … (R shows all)"


@dataclass(frozen=True)
class Turn:
    """An action, whose it was, and what it earned."""

    action: int
    by_agent: bool
    components: Components


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """The game of a seed after some turns: where it stands, and what the episode earned so far."""

    view: ViewSpec
    seed: int
    position: Position
    earned: Components
    turns: tuple[Turn, ...] = ()

    def after(self, action: int, position: Position, *, by_agent: bool) -> PlayedGame:
        """The game after one more action, which led to ``position``."""
        earned = tuple(one + more for one, more in zip(self.earned, position.components, strict=True))
        turns = (*self.turns, Turn(action, by_agent, position.components))
        return replace(self, position=position, turns=turns, earned=earned)

    @property
    def ending(self) -> str | None:
        """The end of the game, in the words of `evaluate`; None while it goes on."""
        return self.position.ending

    def in_rewards(self, components: Components) -> list[float]:
        """Components, or their sums, in units of the reward."""
        return list(map(float, self.view.env.in_rewards(np.array(components))))

    @property
    def verdict(self) -> str:
        """The game so far in one line, as watching an agent tells it."""
        components, earned = np.array(self.position.components), np.array(self.in_rewards(self.earned))
        last = self.view, self.seed, len(self.turns), self.position.state, None, components, earned, self.ending
        return Frame(*last).verdict

    @property
    def trace(self) -> Trace:
        """The game as `parity replay` reads it."""
        world = self.view.world
        reference, other, *_ = (*world.engines, *world.engines)
        return Trace(
            world=world.name,
            engines=(reference, other),
            case=Case(tuple(turn.action for turn in self.turns), seed=int(world.game_seeds(self.seed, 1)[0])),
            components=tuple(turn.components for turn in self.turns),
            component_names=world.components,
        )


def unused(path: Path) -> Path:
    """The path, or where there is such a file the first of NAME-2, NAME-3, … that is none."""
    number, free = 2, path
    while free.exists():
        number, free = number + 1, path.with_stem(f"{path.stem}-{number}")
    return free


def save(game: PlayedGame, path: Path) -> None:
    """Write the game to a file, atomically; raises UsageError where that cannot be done."""
    try:
        write_trace(game.trace, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}): make room or name another file.") from error


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
    """Rewards and changes of the last action of ``ahead``, which is ``game`` and one action more; a line each."""
    turn = ahead.turns[-1]
    would = f"{game.view.world.actions[turn.action]} would earn {earned(game, turn.components)}"
    changed = ", ".join(panels.changes(game.position.state, ahead.position.state)) or "nothing that is counted changes"
    return shorten(would, LINE, placeholder=MORE), shorten(changed, LINE, placeholder=" …")

"""A game that a person plays, as a value: what was done, by whom, what it earned, and where that led."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hackmatrix.evaluation import EVALUATION
from hackmatrix.evaluation.report import DIED, WON
from hackmatrix.play.table import NOTHING, Components, Position
from hackmatrix.render.model import BoardModel
from hackmatrix.watch.play import Moment
from hackmatrix.world import WORLD
from parity.trace import Case, Trace


@dataclass(frozen=True)
class Turn:
    """An action, whose it was, and what it earned."""

    action: int
    by_agent: bool
    components: Components


@dataclass(frozen=True, eq=False)
class Game:
    """The game of a seed after some turns: where it stands, and what the episode earned so far in thousandths."""

    seed: int
    position: Position
    turns: tuple[Turn, ...] = ()
    earned: Components = NOTHING

    def after(self, action: int, position: Position, *, by_agent: bool) -> Game:
        """The game after one more action, which led to ``position``."""
        earned = tuple(one + more for one, more in zip(self.earned, position.components, strict=True))
        turns = (*self.turns, Turn(action, by_agent, position.components))
        return replace(self, position=position, turns=turns, earned=earned)

    @property
    def board(self) -> BoardModel:
        """The board as it is now."""
        return self.position.board

    @property
    def ending(self) -> str | None:
        """How it ended, in the words of `evaluate`; None while it goes on (C4)."""
        return WON if self.board.won else DIED if self.board.dead else None

    @property
    def verdict(self) -> str:
        """The game so far in one line, as watching an agent tells it."""
        here, earned = self.position, EVALUATION.env.in_rewards(np.array(self.earned))
        components = np.array(here.components)
        return Moment(self.seed, len(self.turns), here.state, None, components, earned, self.ending).verdict

    @property
    def trace(self) -> Trace:
        """The game as `parity replay` and `hackmatrix explain` read it."""
        reference, other, *_ = WORLD.engines
        return Trace(
            world=WORLD.name,
            engines=(reference, other),
            case=Case(tuple(turn.action for turn in self.turns), seed=self.seed),
            components=tuple(turn.components for turn in self.turns),
            component_names=WORLD.components,
        )

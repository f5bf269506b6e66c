"""The table at which one plays: a game on an engine, and a second one beside it to look ahead in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hackmatrix.explain.actions import Costs, costs_of
from hackmatrix.render.model import BoardModel, board_model
from hackmatrix.rules import COMPONENTS
from hackmatrix.world import WORLD, rules_of
from parity import BatchEngine, State
from parity.guard import GuardedEngine

Components = tuple[int, ...]
"""What a step earned, (15,) in thousandths, in the order of table W."""
NOTHING: Components = (0,) * len(COMPONENTS)

_PLAYED, _AHEAD = np.array([0]), np.array([1])


@dataclass(frozen=True, eq=False)
class Position:
    """A game as it stands.

    state: complete, S of the protocol. observation: float32 (1545,). mask: bool (28,).
    components: what the step that led here earned; nothing at the start.
    """

    state: State
    observation: NDArray[np.float32]
    mask: NDArray[np.bool_]
    components: Components = NOTHING

    @cached_property
    def board(self) -> BoardModel:
        """The position as it is shown."""
        return board_model(self.state)


class Table:
    """A game of ``engine`` in slot 0, and slot 1 to look ahead in.

    Args:
        engine: of two games; the table closes it.
        costs: of every program, by its action.

    Everything raises EngineError where the engine fails.
    """

    def __init__(self, engine: BatchEngine, costs: Costs) -> None:
        self._engine, self.costs = engine, costs
        self.close = engine.close

    def start(self, seed: int) -> Position:
        """Begin the game of a seed."""
        observation = self._engine.reset(np.array([seed], np.uint64), _PLAYED)
        return self._position(_PLAYED, observation[0])

    def play(self, action: int) -> Position:
        """Play an action, valid or not (C1)."""
        return self._step(action, action, _PLAYED)

    def look(self, action: int) -> Position:
        """What the action would lead to, with the draws that the game would make; the game stays as it is.

        A step moves both games. The one that is played is given an invalid action, which changes nothing (C1); in the
        rare position where all 28 are valid it is put back.
        """
        here, mask = self._engine.get_state(_PLAYED), self._engine.mask()[0].copy()
        self._engine.set_state(here, _AHEAD)
        idle = int(mask.argmin())
        ahead = self._step(idle, action, _AHEAD)
        if mask[idle]:
            self._engine.set_state(here, _PLAYED)
        return ahead

    def _step(self, played: int, ahead: int, slot: NDArray[np.intp]) -> Position:
        step = self._engine.step(np.array([played, ahead], np.int32))
        earned: Components = tuple(step.components[slot[0]].tolist())
        return self._position(slot, step.observation[slot[0]], earned)

    def _position(
        self, slot: NDArray[np.intp], observation: NDArray[np.float32], components: Components = NOTHING
    ) -> Position:
        mask = self._engine.mask()[slot[0]].copy()
        return Position(self._engine.get_state(slot)[0], np.array(observation), mask, components)


def open_table(engine: str) -> Table:
    """A table on one of the world's engines; raises EngineError where it cannot start."""
    return Table(GuardedEngine(WORLD, engine, 2), costs_of(rules_of(engine)))

"""A game on an engine, and a second one beside it to look ahead in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parity import BatchEngine, State
from parity.engine import Array, Slots
from parity.engine_guard import GuardedEngine
from worldkit.evaluation.play import ending_of
from worldkit.render.panels import Panels
from worldkit.watch.spec import ViewSpec

Components = tuple[int, ...]
"""Of a step or an episode, in the order and the unit of the world's components."""

_PLAYED, _AHEAD = np.array([0]), np.array([1])


@dataclass(frozen=True, eq=False)
class Position:
    """A game as it stands.

    state: complete. observation: (*shape,). mask: bool (actions,).
    components: what the step that led here earned; nothing at the start.
    ending: how the game ended, in the words of `evaluate`; None while it goes on.
    """

    state: State
    observation: NDArray[np.float32]
    mask: NDArray[np.bool_]
    components: Components
    ending: str | None = None


class Table:
    """A game of ``engine`` in slot 0, and slot 1 to look ahead in.

    Args:
        view: the world. panels: what is said of it.
        engine: of two games; the table closes it.

    Everything raises EngineError where the engine fails.
    """

    def __init__(self, view: ViewSpec, engine: BatchEngine, panels: Panels) -> None:
        self.view, self.panels, self._engine = view, panels, engine
        self.close = engine.close

    def start(self, seed: int) -> Position:
        """Begin the game of a seed."""
        world = self.view.world
        observation = self._engine.reset(world.game_seeds(seed, 1), _PLAYED)
        return self._position(_PLAYED, observation[0], np.zeros(len(world.components), np.int32))

    def play(self, action: int) -> Position:
        """Play an action."""
        return self._step(action, _PLAYED)

    def look(self, action: int) -> Position:
        """Look ahead: the result of an action, with the draws that the game would make; the game stays as it is.

        A step moves both games, so the one that is played is put back afterwards.
        """
        here = self._engine.get_state(_PLAYED)
        self._engine.set_state(here, _AHEAD)
        ahead = self._step(action, _AHEAD)
        self._engine.set_state(here, _PLAYED)
        return ahead

    def _step(self, action: int, slot: Slots) -> Position:
        step, (game,) = self._engine.step(np.array([action, action], np.int32)), slot
        ending = None
        if step.ended[game]:
            events = 0 if step.events is None else int(step.events[game])
            ending = ending_of(self.view.evaluation, events, terminated=bool(step.terminated[game]))
        return self._position(slot, step.observation[game], step.components[game], ending)

    def _position(self, slot: Slots, observation: Array, components: Array, ending: str | None = None) -> Position:
        (state,), mask = self._engine.get_state(slot), self._engine.mask()[slot[0]].copy()
        return Position(state, np.array(observation), mask, tuple(components.tolist()), ending)


def open_table(view: ViewSpec, engine: str) -> Table:
    """A table on one of the world's engines; raises EngineError where it cannot start."""
    return Table(view, GuardedEngine(view.world, engine, 2), view.panels(view.world, engine))

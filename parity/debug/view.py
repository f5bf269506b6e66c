"""Where a session stands, and what both engines gave there."""

from __future__ import annotations

from typing import Any

from parity.compare import OBSERVATION, Difference
from parity.debug.fields import FieldReader
from parity.debug.forks import tree_lines
from parity.debug.timeline import Fork, Moment
from parity.engine import State
from parity.engine_guard import json_copy
from parity.errors import UsageError, blamed
from parity.step_phases import StepPhases
from parity.trace import Action, Case
from parity.world import Board, World


class GameView:
    """The step at which a session stands.

    Methods that take ``engine`` give that engine's answer, by its name, or the reference's.
    """

    world: World
    engines: tuple[str, str]
    _reader: FieldReader
    _current: Fork
    _forks: list[Fork]

    @property
    def position(self) -> int:
        """The number of actions since the first start."""
        return self._current.step

    @property
    def moment(self) -> Moment:
        """All that both engines gave at this step."""
        return self._current.moment(self._current.step)

    @property
    def is_over(self) -> bool:
        """The reference's game ended with the last step."""
        return self.moment.is_over

    @property
    def next_action(self) -> Action | None:
        """The action that this fork has next; None at its end."""
        return self._current.action(self._current.step)

    @property
    def current(self) -> Fork:
        """The fork in which one stands."""
        return self._current

    @property
    def forks(self) -> tuple[Fork, ...]:
        """All forks by number; ``parent`` and ``at`` make them a tree."""
        return tuple(self._forks)

    @property
    def case(self) -> Case:
        """This fork up to this step, as it can be played again."""
        return self._current.case.prefix(self.position - self._current.first)

    def tree(self) -> str:
        """The forks as an indented list, the current one with an asterisk."""
        return "\n".join(tree_lines(self._forks, self._current))

    def state(self, engine: str | None = None) -> State:
        """The complete state, as JSON values; a copy."""
        return json_copy(self.moment.states[self._side(engine)])

    def observation(self, engine: str | None = None) -> dict[str, Any]:
        """The observation by the world's labels."""
        return self._family(OBSERVATION, engine)

    def mask(self, engine: str | None = None) -> dict[str, bool]:
        """Whether each action is valid, by its name."""
        return self._family("mask", engine)

    def components(self, engine: str | None = None) -> dict[str, int | float]:
        """The reward components of the last step by name, in the world's units; empty at a start."""
        return self._family("components", engine)

    def field(self, name: str, engine: str | None = None) -> Any:  # noqa: ANN401 - a JSON value
        """A field by its name, such as ``state.player.hp``, ``observation[hp]`` or ``hp``; raises UsageError."""
        sides = self.moment.sides
        return json_copy(self._reader.value(sides[self._side(engine)], self._reader.find(sides[0], name)))

    def marks(self, engine: str | None = None) -> dict[str, int]:
        """How often each mark fired in the last step; raises UsageError where an engine counts none."""
        if self.moment.marks is None:
            raise UsageError(f"{' and '.join(self.engines)} do not both count marks: choose engines that do.")
        return dict(self.moment.marks[self._side(engine)])

    def diff(self) -> tuple[Difference, ...]:
        """What differs between the engines, as ``parity run`` compares it; the reference's values are ``expected``."""
        return self.moment.differences

    @property
    def phases(self) -> StepPhases:
        """The phases of the last step on both engines, and the words that they drew; asking raises EngineError."""
        return self.moment.phases

    def board(self, engine: str | None = None) -> Board:
        """The state as the world draws it."""
        with blamed(f"drawing a state of world '{self.world.name}'"):
            return self.world.draw(self.state(engine))

    def _side(self, engine: str | None) -> int:
        if engine is not None and engine not in self.engines:
            raise UsageError(f"the session has no engine '{engine}': it has {' and '.join(self.engines)}.")
        return 0 if engine is None else self.engines.index(engine)

    def _family(self, family: str, engine: str | None) -> dict[str, Any]:
        side = self.moment.sides[self._side(engine)]
        found = self._reader.family(side, family) if family in side else {}
        return found if isinstance(found, dict) else {family: found} if found else {}

"""View of a session's current step: outputs of both engines, and saving as a trace or a test."""

from pathlib import Path
from pprint import pformat
from typing import Any

from rlparity.core.compare import OBSERVATION, Difference
from rlparity.core.guard import json_copy
from rlparity.core.prices import changed_prices
from rlparity.core.replay import Divergence
from rlparity.core.trace import Action, Case, Trace, write_trace
from rlparity.debug.fields import FieldReader
from rlparity.debug.timeline import Fork, Moment, Timeline, tree_lines
from rlparity.engine import State
from rlparity.engines.registry import is_module, registered
from rlparity.errors import UsageError, blamed
from rlparity.io.atomic_write import check_output, write_text
from rlparity.tools.finding import found_trace, shrunk_report
from rlparity.world import Board, World

_TEST = '''"""A game that was saved by the debugger: the engines must agree at each of its steps."""

from rlparity.testing import assert_case
from rlparity.core.trace import Case

CASE = {case}
COMPONENTS = {components}
PRICES = {prices}


def test_engines_agree() -> None:
    assert_case({world!r}, {engines!r}, CASE, components=COMPONENTS, prices=PRICES)
'''


class GameView:
    """View of a session's current step, with methods to read and to save it.

    current: the current fork. forks: all forks by number; ``parent`` and ``at`` make them a tree.

    Methods with an ``engine`` return the output of the engine of that name, by default of the reference.
    """

    world: World
    spec: str
    engines: tuple[str, str]
    _reader: FieldReader
    current: Fork
    _timeline: Timeline
    forks: list[Fork]

    @property
    def position(self) -> int:
        """The number of actions since the first start."""
        return self.moment.step

    @property
    def moment(self) -> Moment:
        """All outputs of both engines at this step."""
        return self.current.moment

    @property
    def next_action(self) -> Action | None:
        """The next action of this fork; None at its end."""
        return self.current.action(self.current.place)

    @property
    def case(self) -> Case:
        """This fork up to this step, as a case to replay."""
        return self.current.case.prefix(self.current.place - self.current.begins)

    def tree(self) -> str:
        """Format the forks as an indented list, the current one with an asterisk."""
        return "\n".join(tree_lines(self.forks, self.current))

    def state(self, engine: str | None = None) -> State:
        """Return a copy of the complete state, as JSON values."""
        return json_copy(self.moment.states[self._side(engine)])

    def observation(self, engine: str | None = None) -> dict[str, Any]:
        """Return the observation by the world's labels."""
        return self._family(OBSERVATION, engine)

    def mask(self, engine: str | None = None) -> dict[str, bool]:
        """Return whether each action is valid, by its name."""
        return self._family("mask", engine)

    def components(self, engine: str | None = None) -> dict[str, int | float]:
        """Return the reward components of the last step by name, in the world's units; empty at a start."""
        return self._family("components", engine)

    def field(self, name: str, engine: str | None = None) -> Any:  # noqa: ANN401 - a JSON value
        """Return a field by name, such as ``state.player.hp``, ``observation[hp]`` or ``hp``; raises UsageError."""
        sides = self.moment.sides
        return json_copy(self._reader.value(sides[self._side(engine)], self._reader.find(sides[0], name)))

    def marks(self, engine: str | None = None) -> dict[str, int]:
        """Return how often each mark fired in the last step; raises UsageError where an engine counts none."""
        if self.moment.marks is None:
            raise UsageError(f"{' and '.join(self.engines)} do not both count marks: choose engines that do.")
        return dict(self.moment.marks[self._side(engine)])

    def diff(self) -> tuple[Difference, ...]:
        """Return the differences that ``rlparity run`` would find; ``expected`` is the reference's value."""
        return self.moment.differences

    def board(self, engine: str | None = None) -> Board:
        """Draw the state as the world's board."""
        with blamed(f"drawing a state of world '{self.world.name}'"):
            return self.world.draw(self.state(engine))

    def save(self, path: Path | str, shrink_seconds: float | None = None) -> Trace:
        """Write this fork up to this step as a trace for ``rlparity replay``, and return the trace.

        ``shrink_seconds``: time limit for shrinking the trace to a minimal case of its first difference; raises
        UsageError where the engines do not differ. Raises UsageError where the file cannot be written.
        """
        check_output(Path(path), makes_folders=True)
        fork = self.current
        trace = found_trace(self.world, self.spec, self.engines, self.case, self.moment)
        if shrink_seconds is not None:
            differing = (place for place in range(fork.begins, fork.place + 1) if fork.path[place].differences)
            if (first := next(differing, None)) is None:
                raise UsageError("the engines agree up to this step: go to one where they differ, or save it unshrunk.")
            found = Divergence(self.case.prefix(first - fork.begins), fork.path[first].differences)
            with self._timeline.moving() as pair:
                trace = shrunk_report(pair, self.spec, found, shrink_seconds).trace
        write_trace(trace, Path(path))
        return trace

    def write_test(self, path: Path | str) -> None:
        """Write this fork up to this step as a pytest test, which fails while the engines differ in it.

        The test also checks the reference's components of the last step, if the engines agree there. Raises UsageError
        where the file cannot be written, or the world has no name by which a test could import it.
        """
        if not is_module(self.spec) and self.spec not in registered():
            spec = self.spec
            raise UsageError(f"a test cannot import the world '{spec}': open the session with its module:attribute.")
        earned = None if self.diff() else self.components() or None
        values = {"case": self.case, "components": earned, "prices": changed_prices(self.world)}
        texts = {name: pformat(value, width=100, sort_dicts=False) for name, value in values.items()}
        write_text(Path(path), _TEST.format(**texts, world=self.spec, engines=self.engines))

    def _side(self, engine: str | None) -> int:
        if engine is not None and engine not in self.engines:
            raise UsageError(f"the session has no engine '{engine}': it has {' and '.join(self.engines)}.")
        return 0 if engine is None else self.engines.index(engine)

    def _family(self, family: str, engine: str | None) -> dict[str, Any]:
        side = self.moment.sides[self._side(engine)]
        found = self._reader.family(side, family) if family in side else {}
        return found if isinstance(found, dict) else {family: found}

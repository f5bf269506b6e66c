"""Phases of a step on both engines, to find the first one in which they differ."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

from rlparity.core.compare import Difference, state_differences
from rlparity.core.pair import Pair
from rlparity.core.replay import ReplayMoment
from rlparity.core.trace import RESTART, Action, batch_of
from rlparity.engine import Phase, State
from rlparity.errors import EngineError

Phases = tuple[Phase, ...] | None
"""Phases of one engine; None where it reports none."""
PhaseRow = tuple[str, tuple[Phase | None, Phase | None], tuple[Difference, ...]]
"""Name of a phase, the phase on each side, and the differences after it."""


@dataclass(frozen=True)
class Parting:
    """Place in a step where two engines first differ: a sentence, the phase's name and the differences after it.

    lines: of each engine's source that may cause the differences, as ``BatchEngine.origins`` gives them.
    """

    text: str = ""
    phase: str = ""
    differences: tuple[Difference, ...] = ()
    lines: tuple[Sequence[tuple[Path, int]], Sequence[tuple[Path, int]]] = ((), ())


NOWHERE = Parting()
"""No known place."""


class StepPhases:
    """Phases of one step on the reference and the other engine, from each engine's own state ``before``.

    ``pair`` is called when the phases are first needed, which raises EngineError where an engine fails.
    """

    def __init__(self, pair: Callable[[], Pair], before: tuple[State, State], action: Action | None) -> None:
        self._pair, self._before, self._action = pair, before, action

    @cached_property
    def sides(self) -> tuple[Phases, Phases]:
        """Phases that each engine reports, None at a start; the same object twice where there is only one engine."""
        if self._action in (None, RESTART) or self._pair().is_black_box:
            return None, None
        world, asked = self._pair().world, zip(self._pair().both, self._before, strict=False)
        told = [engine.phases(state, batch_of(world, self._action)) for engine, state in asked]
        return told[0], told[-1]

    def rows(self) -> Iterator[PhaseRow]:
        """Yield the phases in order; without differences where an engine reports no phases."""
        for pair in zip_longest(*(side or () for side in self.sides)):
            one, other = pair
            name = (one or other).name
            if None in self.sides:
                found: tuple[Difference, ...] = ()
            elif one is None or other is None or one.name != other.name:
                found = (Difference("phase", one and one.name, other and other.name),)
            else:
                found = tuple(state_differences(self._pair().world, one.state, other.state))
            yield name, (one, other), found

    @property
    def parting(self) -> Parting:
        """First phase in which the engines differ, without lines; empty where one reports no phases, or is alone."""
        if None in self.sides or self.sides[0] is self.sides[1]:
            return NOWHERE
        for name, _, differences in self.rows():
            if differences:
                return Parting(f"The engines first differ in phase {name!r}.", name, differences)
        return Parting("The states agree after every phase.")


def parting_of(pair: Pair, moments: Sequence[ReplayMoment]) -> Parting:
    """Locate where in the last step the engines first differ.

    Empty where they do not differ after it, and where an engine fails, because reports do without it.
    """
    if len(moments) < 2 or not moments[-1].differences:
        return NOWHERE
    (*_, before, last), found = moments, NOWHERE
    with suppress(EngineError):
        found = StepPhases(lambda: pair, before.states, last.action).parting
    if last.action in (None, RESTART) or pair.is_black_box or len(pair.both) == 1:
        return found
    action, fields = batch_of(pair.world, last.action), [each.field for each in last.differences]
    lines: list[Sequence[tuple[Path, int]]] = [(), ()]
    for side, engine in enumerate(pair.both):
        with suppress(EngineError):
            states = last.states[side], last.states[1 - side]
            lines[side] = engine.origins(before.states[side], action, states, fields)
    return replace(found, lines=(lines[0], lines[1]))

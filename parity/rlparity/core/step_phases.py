"""Where in a step two engines part: its phases on both, each from the engine's own state before the step."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path

from rlparity.core.compare import Difference, state_differences
from rlparity.core.pair import Pair
from rlparity.core.replay import ReplayMoment
from rlparity.core.trace import RESTART, Action, batch_of
from rlparity.engine import Phase, State
from rlparity.errors import EngineError
from rlparity.world import World

Phases = tuple[Phase, ...] | None
"""Of one engine; None: it tells none."""
PhaseRow = tuple[str, tuple[Phase | None, Phase | None], tuple[Difference, ...]]
"""The name of a phase, the phase on either side, and what differs after it."""


@dataclass(frozen=True)
class Parting:
    """Where in a step two engines part, if they tell: in one sentence, the phase's name and what differs after it.

    lines: of each engine's source that made what differs, as ``BatchEngine.origins`` has them.
    """

    text: str = ""
    phase: str = ""
    differences: tuple[Difference, ...] = ()
    lines: tuple[Sequence[tuple[Path, int]], Sequence[tuple[Path, int]]] = ((), ())


NOWHERE = Parting()
"""Nobody knows where."""


@dataclass(frozen=True)
class StepPhases:
    """The phases of one step on the reference and the other engine, each of which is asked when it is needed."""

    world: World
    asks: tuple[Callable[[], Phases], Callable[[], Phases]]

    @property
    def sides(self) -> tuple[Phases, Phases]:
        """The phases that each engine tells; the same object twice where there is but one engine."""
        return self.asks[0](), self.asks[1]()

    def rows(self) -> Iterator[PhaseRow]:
        """The phases in their order; nothing differs where an engine tells none."""
        for pair in zip_longest(*(side or () for side in self.sides)):
            one, other = pair
            name = (one or other).name
            if None in self.sides:
                found: tuple[Difference, ...] = ()
            elif one is None or other is None or one.name != other.name:
                found = (Difference("phase", one and one.name, other and other.name),)
            else:
                found = tuple(state_differences(self.world, one.state, other.state))
            yield name, (one, other), found

    @property
    def parting(self) -> Parting:
        """Where the engines part, without lines; empty where one tells no phases, or is alone."""
        if None in self.sides or self.sides[0] is self.sides[1]:
            return NOWHERE
        for name, _, differences in self.rows():
            if differences:
                return Parting(f"The engines first differ in phase {name!r}.", name, differences)
        return Parting("The states agree after every phase.")


def step_phases(pair: Callable[[], Pair], before: tuple[State, State], action: Action | None) -> StepPhases:
    """The phases of a step from each engine's own state, none at a start.

    ``pair`` gives the engines when they are asked, which raises EngineError where one fails.
    """

    def ask(side: int) -> Phases:
        if action in (None, RESTART) or pair().is_black_box:
            return None
        return pair().both[side].phases(before[side], batch_of(pair().world, action))

    asks = [cache(partial(ask, side)) for side in range(len(pair().both))]
    return StepPhases(pair().world, (asks[0], asks[-1]))


def parting_of(pair: Pair, moments: Sequence[ReplayMoment]) -> Parting:
    """Where the engines part in the last step, where they differ after it.

    Empty where they do not, and where an engine fails: a report stands without it.
    """
    if len(moments) < 2 or not moments[-1].differences:
        return NOWHERE
    (*_, before, last), found = moments, NOWHERE
    with suppress(EngineError):
        found = step_phases(lambda: pair, before.states, last.action).parting
    if last.action in (None, RESTART) or pair.is_black_box or len(pair.both) == 1:
        return found
    action, fields = batch_of(pair.world, last.action), [each.field for each in last.differences]
    lines: list[Sequence[tuple[Path, int]]] = [(), ()]
    for side, engine in enumerate(pair.both):
        with suppress(EngineError):
            states = last.states[side], last.states[1 - side]
            lines[side] = engine.origins(before.states[side], action, states, fields)
    return replace(found, lines=(lines[0], lines[1]))

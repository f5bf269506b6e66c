"""Playing one game on one or more engines, each on its own, and reading its rewards."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from hackmatrix.explain.readings import Prices, Reading, readings_of
from hackmatrix.explain.transition import Transition
from hackmatrix.world import WORLD, rules_of
from parity import BatchEngine, State
from parity.guard import GuardedEngine
from parity.trace import RESTART, Action, Case

_ONLY = np.zeros(1, np.intp)


@dataclass(frozen=True)
class ExplainedStep:
    """The game after its start (``action`` None), after one action, or after a restart.

    number: the action's place in the list, from 0; -1 for the start.
    state: the first engine's, afterwards; transition: the step in it, None for a start or restart.
    values: per engine the components in thousandths; readings: those of the first engine's states and prices.
    states_agree: all engines are in the same state.
    """

    number: int
    action: Action | None
    state: State
    transition: Transition | None = None
    values: tuple[tuple[int, ...], ...] = ()
    readings: tuple[Reading, ...] = ()
    states_agree: bool = True

    @property
    def engines_agree(self) -> bool:
        """All engines gave the same components and states."""
        return len(set(self.values)) <= 1 and self.states_agree

    @property
    def readings_agree(self) -> bool:
        """The readings are worth what the first engine gave."""
        return not self.values or tuple(reading.value for reading in self.readings) == self.values[0]

    @property
    def sound(self) -> bool:
        """Engines and readings agree."""
        return self.engines_agree and self.readings_agree


def prices_of(engine: str) -> Prices:
    """Table W as an engine holds it; raises EngineError where it cannot start."""
    prices: Prices = rules_of(engine)["rewards"]["prices"]
    return prices


@contextmanager
def open_engines(names: Sequence[str]) -> Iterator[list[BatchEngine]]:
    """One game on each of the engines named; raises EngineError where one cannot start."""
    with ExitStack() as stack:
        engines: list[BatchEngine] = []
        for name in names:
            engines.append(GuardedEngine(WORLD, name, 1))
            stack.callback(engines[-1].close)
        yield engines


def explained_steps(engines: Sequence[BatchEngine], case: Case, prices: Prices) -> Iterator[ExplainedStep]:
    """The start of a case and every action of it; engines with one game each, and the first one's prices.

    Raises StateRefused where an engine refuses the case's start state.
    """
    for engine in engines:
        if case.state is not None:
            engine.set_state([case.state], _ONLY)
        else:
            engine.reset(np.array([case.seed], np.uint64), _ONLY)
    now = _situation(engines, -1, None)
    yield now
    for number, action in enumerate(case.actions):
        if action == RESTART:
            now = _restarted(engines, number)
            yield now
            continue
        now, ended = _stepped(engines, number, int(action), now.state, prices)
        yield now
        if ended and case.auto_reset:
            now = _restarted(engines, number)
            yield now


def _stepped(
    engines: Sequence[BatchEngine], number: int, action: int, before: State, prices: Prices
) -> tuple[ExplainedStep, bool]:
    steps = [engine.step(np.array([action], np.int32)) for engine in engines]
    states = _states(engines)
    transition = Transition(before, states[0], action)
    explained = ExplainedStep(
        number=number,
        action=action,
        state=states[0],
        transition=transition,
        values=tuple(tuple(step.components[0].tolist()) for step in steps),
        readings=readings_of(transition, prices),
        states_agree=_same(states),
    )
    return explained, bool(steps[0].ended[0])


def _restarted(engines: Sequence[BatchEngine], number: int) -> ExplainedStep:
    for engine in engines:
        engine.restart(_ONLY)
    return _situation(engines, number, RESTART)


def _situation(engines: Sequence[BatchEngine], number: int, action: Action | None) -> ExplainedStep:
    states = _states(engines)
    return ExplainedStep(number, action, states[0], states_agree=_same(states))


def _states(engines: Sequence[BatchEngine]) -> list[State]:
    return [engine.get_state(_ONLY)[0] for engine in engines]


def _same(states: Sequence[State]) -> bool:
    return all(state == states[0] for state in states)

"""A recorded case played again, on one or more engines, each on its own."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import numpy as np

from parity import BatchEngine, State, World
from parity.guard import GuardedEngine
from parity.trace import RESTART, Action, Case

_ONLY = np.zeros(1, np.intp)


class ReplayStep(NamedTuple):
    """The game after its start (``action`` None), after one action, or after a restart.

    number: the action's place in the list, from 0; -1 for the start.
    states: of each engine, afterwards. components: what the action earned on each; nothing at a start.
    """

    number: int
    action: Action | None
    states: tuple[State, ...]
    components: tuple[tuple[int, ...], ...] = ()


@contextmanager
def open_engines(world: World, names: Sequence[str]) -> Iterator[list[BatchEngine]]:
    """One game on each of the engines named; raises EngineError where one cannot start."""
    with ExitStack() as stack:
        engines: list[BatchEngine] = []
        for name in names:
            engines.append(GuardedEngine(world, name, 1))
            stack.callback(engines[-1].close)
        yield engines


def replay(engines: Sequence[BatchEngine], case: Case) -> Iterator[ReplayStep]:
    """The start of a case and every action of it, on engines with one game each; the first says where it ends.

    Raises StateRefused where an engine refuses the case's start state.
    """

    def states() -> tuple[State, ...]:
        return tuple(engine.get_state(_ONLY)[0] for engine in engines)

    for engine in engines:
        if case.state is not None:
            engine.set_state([case.state], _ONLY)
        else:
            engine.reset(np.array([case.seed], np.uint64), _ONLY)
    yield ReplayStep(-1, None, states())
    for number, action in enumerate(case.actions):
        ended = action == RESTART
        if action != RESTART:
            steps = [engine.step(np.array([action], np.int32)) for engine in engines]
            yield ReplayStep(number, action, states(), tuple(tuple(step.components[0].tolist()) for step in steps))
            ended = case.auto_reset and bool(steps[0].ended[0])
        if ended:
            for engine in engines:
                engine.restart(_ONLY)
            yield ReplayStep(number, RESTART, states())

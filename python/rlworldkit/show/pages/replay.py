"""Trace files of one world, and a recorded case played again, on one or more engines, each on its own."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rlparity import BatchEngine, State, World
from rlparity.core.guard import GuardedEngine
from rlparity.core.replay import begin
from rlparity.core.trace import RESTART, Action, Case, Trace, check_actions, read_trace
from rlparity.errors import UsageError, quoted

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


def read_own_trace(world: World, path: Path) -> Trace:
    """The trace in a file; raises UsageError where it is none of this world under these rules."""
    trace = read_trace(path)
    if trace.world not in (world.name, world.home):
        raise UsageError(f"{path} is a trace of world {quoted(trace.world)}: give one of world '{world.name}'.")
    check_actions(world, trace, path)
    for name in trace.component_names or ():
        if name not in world.components:
            raise UsageError(
                f"{path} was recorded under other rules, which had the reward component {quoted(name)}: record it anew."
            )
    return trace


@contextmanager
def open_engines(world: World, names: Sequence[str]) -> Iterator[list[BatchEngine]]:
    """One game on each of the engines named; raises EngineError where one cannot start."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(GuardedEngine(world, name, 1))) for name in names]


def replay(engines: Sequence[BatchEngine], case: Case) -> Iterator[ReplayStep]:
    """The start of a case and every action of it, on engines with one game each; the first says where it ends.

    Raises StateRefused where an engine refuses the case's start state.
    """

    def states() -> tuple[State, ...]:
        return tuple(engine.get_state(_ONLY)[0] for engine in engines)

    for engine in engines:
        begin(engine, case)
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

"""Trace files of one world, and the replay of a recorded case on one or more engines, which are not compared."""

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

    number: index of the action in the list, from 0; -1 for the start.
    states: the state of each engine afterwards. components: the action's reward on each engine; empty at a start.
    """

    number: int
    action: Action | None
    states: tuple[State, ...]
    components: tuple[tuple[int, ...], ...] = ()


def read_own_trace(world: World, path: Path) -> Trace:
    """Read the trace in a file; raises UsageError if it is not of this world under these rules."""
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
    """Context with one game on each of the engines named; raises EngineError if one cannot start."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(GuardedEngine(world, name, 1))) for name in names]


def replay(engines: Sequence[BatchEngine], case: Case) -> Iterator[ReplayStep]:
    """Replay a case on engines with one game each; yields its start, its actions and the first engine's restarts.

    Raises StateRefused if an engine refuses the case's start state.
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

"""A trace on one engine as a page; `parity.report` makes the page of one on two engines."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

import numpy as np

from parity import BatchEngine, State, World
from parity.errors import EngineError, StateRefused, UsageError
from parity.guard import GuardedEngine
from parity.registry import engine_name
from parity.report import counted, start_text
from parity.trace import RESTART, Action, Case, Trace
from parity.viewer.page import Episode, Number, Page, Step
from worldkit.viewer.episodes import START
from worldkit.watch.spec import ViewSpec

_ONLY = np.zeros(1, np.intp)


class ReplayStep(NamedTuple):
    """A game after its start (``action`` None) or after one action, and what that earned."""

    action: Action | None
    state: State
    components: tuple[Number, ...] | None = None


def sides_of(world: World, trace: Trace) -> tuple[tuple[str, ...], list[EngineError]]:
    """The engines of a trace that can be opened here, each once, and why the others cannot.

    Raises UsageError where it names one that the game does not have, EngineError where none can be opened.
    """
    names: list[str] = []
    faults: list[EngineError] = []
    for name in dict.fromkeys(trace.engines):
        try:
            with closing(GuardedEngine(world, engine_name(world, name), 1)):
                names.append(name)
        except EngineError as fault:
            faults.append(fault)
    if not names:
        raise faults[0]
    return tuple(names), faults


def trace_page(view: ViewSpec, name: str, trace: Trace, engine: str, command: str) -> Page:
    """The page of a trace that people call ``name``, replayed on one engine.

    Raises UsageError where the engine does not take its start, EngineError where it cannot start, or fails.
    """
    with closing(GuardedEngine(view.world, engine, 1)) as opened:
        try:
            played = list(_replay(opened, trace.case))
        except StateRefused as error:
            raise UsageError(f"the start state in {name} is refused: {error}") from error
    return Page(
        headline=f"{name}: {counted(len(trace.case.actions), 'action')} on {engine}",
        sides=(engine,),
        episodes=(_episode(view, trace, played),),
        about=(f"Start: {start_text(trace)}.", *_change_since(view.world, trace, played)),
        command=command,
    )


def _replay(engine: BatchEngine, case: Case) -> Iterator[ReplayStep]:
    """The start of a case and every action of it; raises StateRefused where the engine refuses its start state."""
    if case.state is not None:
        engine.set_state([case.state], _ONLY)
    else:
        engine.reset(np.array([case.seed], np.uint64), _ONLY)
    yield ReplayStep(None, engine.get_state(_ONLY)[0])
    for action in case.actions:
        ended = action == RESTART
        if action != RESTART:
            step = engine.step(np.array([action], np.int32))
            yield ReplayStep(action, engine.get_state(_ONLY)[0], tuple(step.components[0].tolist()))
            ended = case.auto_reset and bool(step.ended[0])
        if ended:
            engine.restart(_ONLY)
            yield ReplayStep(RESTART, engine.get_state(_ONLY)[0])


def _episode(view: ViewSpec, trace: Trace, played: Sequence[ReplayStep]) -> Episode:
    earned = view.env.in_rewards(np.array([step.components for step in played if step.components]).sum())
    said = f"{counted(len(trace.case.actions), 'action')}, return {earned:.3f}"
    boards = ((view.world.draw(step.state),) for step in played)
    steps = tuple(
        Step(
            _name_of(view.world, step.action),
            board,
            (step.components,) if step.components else None,
        )
        for step, board in zip(played, boards, strict=True)
    )
    last, end = played[-1], None
    if isinstance(last.action, int):  # it does not end with a start
        end, _ = view.end(played[-2].state, last.state, last.action, None)
    return Episode(start_text(trace), f"{said}: {end.cause} in {end.level}" if end else said, steps, end)


def _name_of(world: World, action: Action | None) -> str:
    return START if action is None else world.actions[action] if isinstance(action, int) else action


def _change_since(world: World, trace: Trace, played: Sequence[ReplayStep]) -> tuple[str, ...]:
    """A sentence where an action is worth something else than when it was recorded; nothing where none is."""
    names = trace.component_names or world.components
    paid = [dict(zip(world.components, step.components, strict=True)) for step in played if step.components]
    recorded = [dict(zip(names, row, strict=True)) for row in trace.components or ()]
    for number, (now, then) in enumerate(zip(paid, recorded, strict=False), start=1):
        if any(now[name] != then.get(name, 0) for name in world.components):
            return (f"From step {number} on its rewards are other ones than those recorded.",)
    return ()

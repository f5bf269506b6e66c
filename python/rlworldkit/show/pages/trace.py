"""Page of a trace on one engine; `rlparity.tools.report` makes the page of a trace on two engines."""

from collections.abc import Sequence

import numpy as np

from rlparity import World
from rlparity.core.trace import Action, Trace
from rlparity.engines.registry import engine_name
from rlparity.errors import EngineError, StateRefused, UsageError
from rlparity.io.console import counted
from rlparity.tools.report import start_text
from rlparity.viewer.page import Page, PageEpisode, PageStep
from rlworldkit.render.show import show_of
from rlworldkit.show.pages.agent import START
from rlworldkit.show.pages.replay import ReplayStep, open_engines, replay


def sides_of(world: World, trace: Trace) -> tuple[tuple[str, ...], list[EngineError]]:
    """Find the engines of a trace that can be opened here, each once, and the errors of the others.

    Raises UsageError if it names an engine that the world does not have, EngineError if no engine can be opened.
    """
    names: list[str] = []
    faults: list[EngineError] = []
    for name in dict.fromkeys(trace.engines):
        try:
            with open_engines(world, [engine_name(world, name)]):
                names.append(name)
        except EngineError as fault:
            faults.append(fault)
    if not names:
        raise faults[0]
    return tuple(names), faults


def trace_page(world: World, name: str, trace: Trace, engine: str, command: str) -> Page:
    """Make the page of a trace called ``name``, replayed on one engine.

    Raises UsageError if the engine refuses its start state, EngineError if the engine cannot start, or fails.
    """
    with open_engines(world, [engine]) as opened:
        try:
            played = list(replay(opened, trace.case))
        except StateRefused as error:
            raise UsageError(f"the start state in {name} is refused: {error}") from error
    return Page(
        headline=f"{name}: {counted(len(trace.case.actions), 'action')} on {engine}",
        sides=(engine,),
        episodes=(_episode(world, trace, played),),
        about=(f"Start: {start_text(trace)}.", *_change_since(world, trace, played)),
        command=command,
    )


def _episode(world: World, trace: Trace, played: Sequence[ReplayStep]) -> PageEpisode:
    earned = world.in_rewards(np.array([step.components for step in played if step.components]).sum())
    said = f"{counted(len(trace.case.actions), 'action')}, return {earned:.3f}"
    steps = tuple(
        PageStep(_name_of(world, step.action), tuple(map(world.draw, step.states)), step.components or None)
        for step in played
    )
    last, end = played[-1], None
    if isinstance(last.action, int):  # the trace ends with an action, not with a start
        end, _ = show_of(world).end(played[-2].states[0], last.states[0], last.action, None)
    return PageEpisode(start_text(trace), f"{said}: {end.cause} in {end.level}" if end else said, steps, end)


def _name_of(world: World, action: Action | None) -> str:
    return START if action is None else world.actions[action] if isinstance(action, int) else str(action)


def _change_since(world: World, trace: Trace, played: Sequence[ReplayStep]) -> tuple[str, ...]:
    """Return a sentence if the reward of an action differs from the recorded one, else nothing."""
    names = trace.component_names or world.components
    paid = [dict(zip(world.components, step.components[0], strict=True)) for step in played if step.components]
    recorded = [dict(zip(names, row, strict=True)) for row in trace.components or ()]
    for number, (now, then) in enumerate(zip(paid, recorded, strict=False), start=1):
        if any(now[name] != then.get(name, 0) for name in world.components):
            return (f"From step {number} on its rewards are other ones than those recorded.",)
    return ()

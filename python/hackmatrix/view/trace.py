"""A trace on one engine as a page; `parity.report` makes the page of one on two engines."""

from collections.abc import Sequence

from hackmatrix.explain.ending import LEFT, ending
from hackmatrix.explain.play import ExplainedStep, explained_steps, open_engines, prices_of
from hackmatrix.rules import ACTIONS, COMPONENT_UNIT, COMPONENTS
from hackmatrix.view.episodes import START, end_on_board
from hackmatrix.world import WORLD
from parity.errors import EngineError, StateRefused, UsageError
from parity.registry import engine_name
from parity.report import counted, start_text
from parity.trace import RESTART, Action, Trace
from parity.viewer.page import Episode, Page, Step


def sides_of(trace: Trace) -> tuple[tuple[str, ...], list[EngineError]]:
    """The engines of a trace that can be opened here, each once, and why the others cannot.

    Raises UsageError where it names one that the game does not have, EngineError where none can be opened.
    """
    names: list[str] = []
    faults: list[EngineError] = []
    for name in dict.fromkeys(trace.engines):
        try:
            with open_engines([engine_name(WORLD, name)]):
                names.append(name)
        except EngineError as fault:
            faults.append(fault)
    if not names:
        raise faults[0]
    return tuple(names), faults


def trace_page(name: str, trace: Trace, engine: str, command: str) -> Page:
    """The page of a trace that people call ``name``, replayed on one engine.

    Raises UsageError where the engine does not take its start, EngineError where it cannot start, or fails.
    """
    with open_engines([engine]) as engines:
        try:
            played = list(explained_steps(engines, trace.case, prices_of(engine)))
        except StateRefused as error:
            raise UsageError(f"the start state in {name} is refused: {error}") from error
    return Page(
        headline=f"{name}: {counted(len(trace.case.actions), 'action')} on {engine}",
        sides=(engine,),
        episodes=(_episode(trace, played),),
        about=(f"Start: {start_text(trace)}.", *_change_since(trace, played)),
        command=command,
    )


def _episode(trace: Trace, played: Sequence[ExplainedStep]) -> Episode:
    earned = sum(sum(step.values[0]) for step in played if step.values) * COMPONENT_UNIT
    said = f"{counted(len(trace.case.actions), 'action')}, return {earned:.3f}"
    steps = tuple(map(_step, played))
    last = played[-1].transition
    if last is None:  # it ends with a start
        return Episode(start_text(trace), said, steps)
    ended = ending(last, LEFT)
    return Episode(start_text(trace), f"{said}: {ended.cause} in stage {ended.stage}", steps, end_on_board(ended))


def _step(played: ExplainedStep) -> Step:
    return Step(_name_of(played.action), (WORLD.draw(played.state),), played.values or None)


def _name_of(action: Action | None) -> str:
    return START if action is None else action if action == RESTART else ACTIONS[action]


def _change_since(trace: Trace, played: Sequence[ExplainedStep]) -> tuple[str, ...]:
    """A sentence where an action is worth something else than when it was recorded; nothing where none is."""
    names = trace.component_names or COMPONENTS
    paid = [dict(zip(COMPONENTS, step.values[0], strict=True)) for step in played if step.values]
    recorded = [dict(zip(names, row, strict=True)) for row in trace.components or ()]
    for number, (now, then) in enumerate(zip(paid, recorded, strict=False), start=1):
        if any(now[name] != then.get(name, 0) for name in COMPONENTS):
            return (f"From step {number} on its rewards are other ones than those recorded.",)
    return ()

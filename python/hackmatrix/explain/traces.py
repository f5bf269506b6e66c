"""Trace files of this game."""

from pathlib import Path

from hackmatrix.rules import ACTIONS, COMPONENTS
from hackmatrix.world import WORLD
from parity.errors import UsageError
from parity.reading import shown
from parity.trace import Trace, read_trace

_OUR_WORLD = (WORLD.name, "hackmatrix.world:WORLD")


def read_own_trace(path: Path) -> Trace:
    """The trace in a file; raises UsageError where it is none of this game under these rules."""
    trace = read_trace(path)
    if trace.world not in _OUR_WORLD:
        raise UsageError(f"{path} is a trace of world {shown(trace.world)}: give one of world '{WORLD.name}'.")
    for action in trace.case.actions:
        if isinstance(action, int) and action >= len(ACTIONS):
            raise UsageError(f"{path} holds action {action}: actions are 0 ... {len(ACTIONS) - 1}.")
    for name in trace.component_names or ():
        if name not in COMPONENTS:
            raise UsageError(
                f"{path} was recorded under other rules, which had the reward component {shown(name)}: record it anew."
            )
    return trace

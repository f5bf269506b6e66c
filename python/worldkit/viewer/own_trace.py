"""Trace files of one world."""

from pathlib import Path

from parity import World
from parity.errors import UsageError
from parity.reading import shown
from parity.trace import Trace, read_trace


def read_own_trace(world: World, path: Path, other_names: tuple[str, ...] = ()) -> Trace:
    """The trace in a file; raises UsageError where it is none of this world under these rules.

    other_names: what traces call the world besides its own name.
    """
    trace = read_trace(path)
    if trace.world not in (world.name, *other_names):
        raise UsageError(f"{path} is a trace of world {shown(trace.world)}: give one of world '{world.name}'.")
    for action in trace.case.actions:
        if isinstance(action, int) and action >= len(world.actions):
            raise UsageError(f"{path} holds action {action}: actions are 0 ... {len(world.actions) - 1}.")
    for name in trace.component_names or ():
        if name not in world.components:
            raise UsageError(
                f"{path} was recorded under other rules, which had the reward component {shown(name)}: record it anew."
            )
    return trace

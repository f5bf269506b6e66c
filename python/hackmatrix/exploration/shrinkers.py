"""Shrinkers of states for `rlparity shrink`."""

from collections.abc import Iterator

from rlparity import State
from rlparity.shrinkers import fewer_entries, smaller_numbers


def no_history(state: State) -> Iterator[State]:
    """Remove the history, which UNDO would restore."""
    if state.get("history") is not None:  # generated starts may leave it out
        yield {**state, "history": None, "killsSinceHistory": 0, "pickupsSinceHistory": 0}


SHRINKERS = (no_history, fewer_entries, smaller_numbers)

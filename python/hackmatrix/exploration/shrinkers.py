"""What is smaller than a state, for `rlparity shrink`."""

from collections.abc import Iterator

from rlparity import State
from rlparity.shrinkers import fewer_entries, smaller_numbers


def no_history(state: State) -> Iterator[State]:
    """Without what UNDO would bring back."""
    if state.get("history") is not None:  # made starts may leave it out
        yield {**state, "history": None, "killsSinceHistory": 0, "pickupsSinceHistory": 0}


SHRINKERS = (no_history, fewer_entries, smaller_numbers)

"""Shrinkers of states for `rlparity shrink`."""

from collections.abc import Iterator

from rlparity import State
from rlparity.shrinkers import nearer_to_0, smaller_numbers, without_parts


def fewer_items(state: State) -> Iterator[State]:
    """Remove some of the food or of the poison."""
    for name, count in (("food", "foodCount"), ("poison", "poisonCount")):
        yield from ({**state, name: kept, count: len(kept)} for kept in without_parts(state[name]))


def smaller_key(state: State) -> Iterator[State]:
    """Move one word of the key nearer to 0."""
    low, high = state["key"]
    yield from ({**state, "key": [low, word]} for word in nearer_to_0(high))
    yield from ({**state, "key": [word, high]} for word in nearer_to_0(low))


SHRINKERS = (fewer_items, smaller_numbers, smaller_key)

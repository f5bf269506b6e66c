"""What is smaller than a state, for `rlparity shrink`. The engines refuse what no game can be."""

from collections.abc import Iterator

from rlparity import State


def fewer_items(state: State) -> Iterator[State]:
    """Without a half of what lies about, then without a quarter, and so on down to a single item."""
    for name, count in (("food", "foodCount"), ("poison", "poisonCount")):
        cells = state[name]
        size = len(cells)
        while size > 1:
            size = -(-size // 2)
            for first in range(0, len(cells), size):
                kept = cells[:first] + cells[first + size :]
                yield {**state, name: kept, count: len(kept)}
        if len(cells) == 1:
            yield {**state, name: [], count: 0}


def smaller_numbers(state: State) -> Iterator[State]:
    """One number nearer to 0, boldly first. The engines refuse an agent on top of an item."""
    for name in ("event", "steps", "energy", "x", "y"):
        for value in _nearer(state[name]):
            yield {**state, name: value}
    low, high = state["key"]
    yield from ({**state, "key": [low, value]} for value in _nearer(high))
    yield from ({**state, "key": [value, high]} for value in _nearer(low))


def _nearer(value: int) -> Iterator[int]:
    sign = 1 if value > 0 else -1
    size = abs(value)
    yield from (sign * smaller for smaller in dict.fromkeys((0, 1, size // 2, size - 1)) if 0 <= smaller < size)


SHRINKERS = (fewer_items, smaller_numbers)

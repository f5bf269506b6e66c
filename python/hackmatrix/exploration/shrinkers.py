"""What is smaller than a state, for `rlparity shrink`. The engines refuse what no game can be."""

from collections.abc import Iterator
from typing import Any

from hackmatrix import rules
from rlparity import State


def no_history(state: State) -> Iterator[State]:
    """Without what UNDO would bring back."""
    if state.get("history") is not None:  # made starts may leave it out
        yield {**state, "history": None, "killsSinceHistory": 0, "pickupsSinceHistory": 0}


def fewer_entries(state: State) -> Iterator[State]:
    """Half of a list, then a list without one of its entries."""
    for name in rules.STATE_FIELDS:
        value = state.get(name)
        entries = value if isinstance(value, list) else []
        if len(entries) > 2:
            middle = len(entries) // 2
            yield {**state, name: entries[:middle]}
            yield {**state, name: entries[middle:]}
        for index in range(len(entries)):
            yield {**state, name: entries[:index] + entries[index + 1 :]}


def smaller_numbers(state: State) -> Iterator[State]:
    """One number or flag smaller, the smallest first."""
    for name in rules.STATE_FIELDS:
        for value in _below(state.get(name)):
            yield {**state, name: value}
    player = state["player"]
    for name in sorted(player.keys() - {"row", "col"}):
        for value in _below(player[name]):
            yield {**state, "player": {**player, name: value}}


def _below(value: object) -> Iterator[Any]:
    if value is True:
        yield False
    elif type(value) is int:
        yield from (smaller for smaller in dict.fromkeys((0, 1, value // 2, value - 1)) if 0 <= smaller < value)


SHRINKERS = (no_history, fewer_entries, smaller_numbers)

"""Smaller states than a given one: fewer entries, then smaller numbers."""

from collections.abc import Iterator
from typing import Any

from parity import Shrinker, State

_LISTS = ("enemies", "transmissions", "blocks", "resources", "siphoned", "siphonCenters", "ownedPrograms")
_OF_PLAYER = ("hp", "credits", "energy", "dataSiphons", "attackDamage", "score")
_FLAGS = ("showActivated", "scheduledTasksDisabled", "stepActive")
_NUMBERS = (
    *("seed", "eventNumber", "turn", "stage", "atkPlusUses", "scheduledTaskInterval", "nextScheduledTaskTurn"),
    *("pendingSiphonTransmissions", "closestApproach", "killsSinceHistory", "pickupsSinceHistory"),
)


def no_history(state: State) -> Iterator[State]:
    """Without what UNDO would bring back."""
    if state["history"] is not None:
        yield {**state, "history": None, "killsSinceHistory": 0, "pickupsSinceHistory": 0}


def fewer_entries(state: State) -> Iterator[State]:
    """Half of a list, then a list without one of its entries."""
    for name in _LISTS:
        entries = state[name]
        if len(entries) > 2:
            middle = len(entries) // 2
            yield {**state, name: entries[:middle]}
            yield {**state, name: entries[middle:]}
        for index in range(len(entries)):
            yield {**state, name: entries[:index] + entries[index + 1 :]}


def smaller_numbers(state: State) -> Iterator[State]:
    """One number or flag smaller, boldly first. The engines refuse what is too small."""
    for name in (*_NUMBERS, *_FLAGS):
        for value in _below(state[name]):
            yield {**state, name: value}
    for name in _OF_PLAYER:
        for value in _below(state["player"][name]):
            yield {**state, "player": {**state["player"], name: value}}


def _below(value: int) -> Iterator[Any]:
    if isinstance(value, bool):
        if value:
            yield False
        return
    for smaller in dict.fromkeys((0, 1, value // 2, value - 1)):
        if 0 <= smaller < value:
            yield smaller


SHRINKERS: tuple[Shrinker, ...] = (no_history, fewer_entries, smaller_numbers)

"""Validation of the dict of a game (G13), for both engines: ranges, and an error message for each violation."""

from collections.abc import Mapping
from typing import Any

from goodharts.rules import NUM_CELLS, SIZE, STATE_FIELDS
from rlparity.errors import StateRefused

_WORD = 2**32 - 1
_RANGES = {
    **dict.fromkeys(("x", "y"), (0, SIZE - 1)),
    "energy": (-(2**63), 2**63 - 1),
    "steps": (0, 2**63 - 1),
    "event": (0, _WORD),
    **dict.fromkeys(("foodCount", "poisonCount"), (0, NUM_CELLS - 1)),
}


def refuse_impossible(state: Mapping[str, Any]) -> None:
    """Raise StateRefused, one sentence that names the field and the fault, for a state that breaks a rule or range."""
    if not isinstance(state, Mapping):
        raise StateRefused(f"a state must be an object with named fields, not {type(state).__name__}.")
    fields = ", ".join(STATE_FIELDS)
    if missing := [name for name in STATE_FIELDS if name not in state]:
        raise StateRefused(f"the state has no {missing[0]}: give all of {fields}.")
    if unknown := [name for name in state if name not in STATE_FIELDS]:
        raise StateRefused(f"the state has an unknown field {unknown[0]!r}: give {fields}.")
    food, poison = (_cells(name, state[name]) for name in ("food", "poison"))
    for name, (low, high) in _RANGES.items():
        _whole_number(name, state[name], low, high)
    key = state["key"]
    if not isinstance(key, (list, tuple)) or len(key) != 2:
        raise StateRefused(f"key must be two 32-bit words, not {key!r:.60}.")
    for index, word in enumerate(key):
        _whole_number(f"key[{index}]", word, 0, _WORD)
    for name, there in (("foodCount", len(food)), ("poisonCount", len(poison))):
        if state[name] != there:
            raise StateRefused(f"{name} is {state[name]}, but there are {there}: what is eaten reappears (G5).")
    if both := food & poison:
        raise StateRefused(f"cell {min(both)} holds food and poison: a cell holds one thing.")
    agent = SIZE * state["y"] + state["x"]
    if agent in food | poison:
        raise StateRefused(f"the agent's cell {agent} must be empty: what it holds is eaten at once (G5).")


def _cells(name: str, cells: object) -> set[int]:
    if not isinstance(cells, (list, tuple)):
        raise StateRefused(f"{name} must be a list of cells, not {cells!r:.60}.")
    for index, cell in enumerate(cells):
        _whole_number(f"{name}[{index}]", cell, 0, NUM_CELLS - 1)
        if index and cell <= cells[index - 1]:
            raise StateRefused(
                f"{name}[{index}] is {cell} after {cells[index - 1]}: cells stand in ascending order, once each."
            )
    return set(cells)


def _whole_number(name: str, value: object, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise StateRefused(f"{name} must be a whole number in {low} … {high}, not {value!r:.60}.")

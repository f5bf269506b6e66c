"""States as the dicts of the rules (G13), and back; numpy, one game at a time.

A dict that breaks a rule or a range is refused in one sentence that names the field;
``docs/reference/goodharts.md`` has the ranges.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goodharts.jax_env.grid import BITS
from goodharts.jax_env.state import State
from goodharts.rules import NUM_CELLS, SIZE, STATE_FIELDS
from rlparity.errors import StateRefused
from rlworldkit.jax.int64_pair import Int64Pair, to_int64
from rlworldkit.jax.threefry import Seed

_WORD = 2**BITS - 1
_RANGES = {
    "x": (0, SIZE - 1),
    "y": (0, SIZE - 1),
    "energy": (-(2**63), 2**63 - 1),
    "steps": (0, 2**63 - 1),
    "event": (0, _WORD),
    "foodCount": (0, NUM_CELLS - 1),
    "poisonCount": (0, NUM_CELLS - 1),
}


def to_dict(state: State) -> dict[str, Any]:
    """The dict of a game with numpy leaves."""
    return {
        "food": np.flatnonzero(flags(state.food)).tolist(),
        "poison": np.flatnonzero(flags(state.poison)).tolist(),
        "x": int(state.x),
        "y": int(state.y),
        "energy": int(to_int64(np.stack(state.energy))),
        "steps": int(to_int64(np.stack(state.steps))),
        "event": int(state.event),
        "key": [int(word) for word in state.key],
        "foodCount": int(state.food_count),
        "poisonCount": int(state.poison_count),
    }


def from_dict(state: Mapping[str, Any]) -> State:
    """The game, numpy leaves, that a dict describes; raises StateRefused for one that is against the rules."""
    _refuse_impossible(state)
    names = ("x", "x"), ("y", "y"), ("food_count", "foodCount"), ("poison_count", "poisonCount")
    leaves: dict[str, Any] = {leaf: np.int32(state[name]) for leaf, name in names}
    leaves |= {name: _plane(state[name]) for name in ("food", "poison")}
    leaves |= {name: Int64Pair(*_words(state[name])) for name in ("energy", "steps")}
    key: list[Any] = [np.uint32(word) for word in state["key"]]
    return State(event=np.uint32(state["event"]), key=Seed(*key), **leaves)  # type: ignore[arg-type]


def flags(planes: Any) -> NDArray[np.uint8]:  # noqa: ANN401 - of numpy or of JAX
    """1 for each cell of sets (…, 512): uint8 (…, 16384)."""
    little = np.ascontiguousarray(planes, "<u4")
    return np.unpackbits(little.view(np.uint8), axis=-1, bitorder="little")


def _words(number: int) -> tuple[Any, Any]:
    return np.uint32(number & _WORD), np.uint32(number >> BITS & _WORD)


def _plane(cells: list[int]) -> NDArray[np.uint32]:
    held = np.zeros(NUM_CELLS, np.uint8)
    held[cells] = 1
    return np.packbits(held, bitorder="little").view("<u4").astype(np.uint32)


def _refuse_impossible(state: Mapping[str, Any]) -> None:
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

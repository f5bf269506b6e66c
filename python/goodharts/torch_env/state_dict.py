"""States as the dicts of the rules (G13), and back.

``set_state(get_state(…))`` is the identity. A dict that breaks a rule or a range raises one ``StateRefused`` that names
the field and the fault; ``docs/reference/goodharts.md`` lists the ranges.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from goodharts.rules import FOOD, NUM_CELLS, POISON, SIZE, STATE_FIELDS
from goodharts.torch_env import random
from goodharts.torch_env.state import State
from rlparity.errors import StateRefused

_MOST_ITEMS = NUM_CELLS - 1
"""All cells but the agent's."""
_MOST = 2**63 - 1
"""Of a number that is not bounded by the rules, but by what a tensor holds."""
_COLUMNS = {name: name for name in ("x", "y", "energy", "steps", "event")} | {
    "food_count": "foodCount",
    "poison_count": "poisonCount",
}
"""Names of a state's numbers in a dict."""


def to_dicts(state: State) -> list[dict[str, Any]]:
    """The games as dicts, in order."""
    columns = {
        "food": _cells(state.grid, FOOD),
        "poison": _cells(state.grid, POISON),
        **{key: getattr(state, name).tolist() for name, key in _COLUMNS.items()},
        "key": random.unsigned(state.key).tolist(),
    }
    return [{name: columns[name][game] for name in STATE_FIELDS} for game in range(len(state.grid))]


def _cells(grid: Tensor, kind: int) -> list[list[int]]:
    """The cells of a kind, ascending, game by game."""
    games, cells = (grid == kind).nonzero().T
    per_game = torch.bincount(games, minlength=len(grid)).tolist()
    return [part.tolist() for part in cells.split(per_game)]


def from_dicts(states: Sequence[Mapping[str, Any]], device: torch.device) -> State:
    """The games that these dicts describe; raises StateRefused for the first that is against the rules."""
    for state in states:
        _check(state)
    games = State.empty(len(states), device)
    for kind, name in ((FOOD, "food"), (POISON, "poison")):
        rows = [row for row, state in enumerate(states) for _ in state[name]]
        cells = [cell for state in states for cell in state[name]]
        games.grid[torch.tensor(rows, dtype=torch.int64), torch.tensor(cells, dtype=torch.int64)] = kind
    for name, key in _COLUMNS.items():
        getattr(games, name)[:] = torch.tensor([state[key] for state in states], dtype=torch.int64)
    keys = torch.tensor([state["key"] for state in states], dtype=torch.int64).view(-1, 2)
    games.key[:] = keys.to(torch.int32)
    return games


def _check(state: Mapping[str, Any]) -> None:
    if not isinstance(state, Mapping):
        raise StateRefused(f"a state must be an object with named fields, not {type(state).__name__}.")
    if missing := [name for name in STATE_FIELDS if name not in state]:
        raise StateRefused(f"the state has no {missing[0]}: give all of {', '.join(STATE_FIELDS)}.")
    if unknown := [name for name in state if name not in STATE_FIELDS]:
        raise StateRefused(f"the state has an unknown field {unknown[0]!r}: give {', '.join(STATE_FIELDS)}.")
    food, poison = _checked_cells(state, "food"), _checked_cells(state, "poison")
    for name, low, high in (
        ("x", 0, SIZE - 1),
        ("y", 0, SIZE - 1),
        ("energy", -_MOST - 1, _MOST),
        ("steps", 0, _MOST),
        ("event", 0, random.WORD),
        ("foodCount", 0, _MOST_ITEMS),
        ("poisonCount", 0, _MOST_ITEMS),
    ):
        _check_whole(name, state[name], low, high)
    key = state["key"]
    if not isinstance(key, (list, tuple)) or len(key) != 2:
        raise StateRefused(f"key must be two 32-bit words, not {key!r:.60}.")
    for place, word in enumerate(key):
        _check_whole(f"key[{place}]", word, 0, random.WORD)
    for name, cells in (("foodCount", food), ("poisonCount", poison)):
        if state[name] != len(cells):
            raise StateRefused(f"{name} is {state[name]}, but there are {len(cells)}: what is eaten reappears (G5).")
    if shared := food & poison:
        raise StateRefused(f"cell {min(shared)} holds food and poison: a cell holds one thing.")
    agent = state["y"] * SIZE + state["x"]
    if agent in food or agent in poison:
        raise StateRefused(f"the agent's cell {agent} must be empty: what it holds is eaten at once (G5).")


def _checked_cells(state: Mapping[str, Any], name: str) -> set[int]:
    cells = state[name]
    if not isinstance(cells, (list, tuple)):
        raise StateRefused(f"{name} must be a list of cells, not {cells!r:.60}.")
    last = -1
    for place, cell in enumerate(cells):
        _check_whole(f"{name}[{place}]", cell, 0, NUM_CELLS - 1)
        if cell <= last:
            raise StateRefused(f"{name}[{place}] is {cell} after {last}: cells stand in ascending order, once each.")
        last = cell
    return set(cells)


def _check_whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise StateRefused(f"{name} must be a whole number in {low} … {high}, not {value!r:.60}.")

"""States as the dicts of the rules (G13), and back: ``set_state(get_state(…))`` is the identity."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from goodharts.rules import FOOD, POISON, STATE_FIELDS, refuse_impossible
from goodharts.torch_env import random
from goodharts.torch_env.state import State

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
        refuse_impossible(state)
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

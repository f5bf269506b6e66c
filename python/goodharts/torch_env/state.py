"""The state of many games as tensors, changed in place: their grids alone are 16 KiB a game (G1, G13)."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from goodharts.rules import NUM_CELLS


@dataclass
class State:
    """State of ``n`` games; all fields except the grid and the key are int64.

    grid: int8 (n, 16384), EMPTY, FOOD or POISON in each cell. x, y, energy (thousandths), steps (of this life): (n,).
    event: (n,), the steps of this game as a word of 32 bits, which wraps; key: int32 (n, 2), from which it draws.
    food_count, poison_count: (n,), the episode's.
    """

    grid: Tensor
    x: Tensor
    y: Tensor
    energy: Tensor
    steps: Tensor
    event: Tensor
    key: Tensor
    food_count: Tensor
    poison_count: Tensor

    @classmethod
    def empty(cls, games: int, device: torch.device) -> State:
        """Games without a key, on empty grids."""
        columns = {field.name: torch.zeros(games, dtype=torch.int64, device=device) for field in fields(cls)}
        grid = torch.zeros((games, NUM_CELLS), dtype=torch.int8, device=device)
        key = torch.zeros((games, 2), dtype=torch.int32, device=device)
        return cls(**{**columns, "grid": grid, "key": key})

    def rows(self, rows: Tensor) -> State:
        """A copy of some games."""
        return State(*(getattr(self, field.name).index_select(0, rows) for field in fields(self)))

    def put(self, rows: Tensor, games: State) -> None:
        """Put games into some rows."""
        for field in fields(self):
            getattr(self, field.name).index_copy_(0, rows, getattr(games, field.name))

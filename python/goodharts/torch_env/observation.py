"""What an agent sees (G7): the cells around it as codes, and the two channels that they become."""

import torch
from torch import Tensor

from goodharts.rules import NUM_CELLS, OBSERVATION_SHAPE, REACH, SIZE, VIEW
from goodharts.torch_env.marks import Marks
from goodharts.torch_env.state import State


class Eye:
    """Looks at the cells around agents; holds the offsets that this takes, and counts when it looks over an edge."""

    def __init__(self, games: int, device: torch.device, marks: Marks | None) -> None:
        self._reach = torch.arange(-REACH, REACH + 1, device=device)
        self._base = torch.arange(0, games * NUM_CELLS, NUM_CELLS, device=device)[:, None, None]
        self._marks = marks

    def codes(self, state: State, rows: Tensor | None = None) -> Tensor:
        """What the cells around agents hold, in some rows (n,) or in all: int8 (n, 121), row by row."""
        x, y, base = (
            (state.x, state.y, self._base) if rows is None else (state.x[rows], state.y[rows], self._base[rows])
        )
        columns = x[:, None] + self._reach
        lines = y[:, None] + self._reach
        if self._marks:
            self._marks.add("G7.look", len(x))
            self._marks.add("G7.over_the_edge", ((columns | lines) & ~(SIZE - 1)).any(dim=1))
        cells = ((lines & (SIZE - 1)) * SIZE)[:, :, None] + (columns & (SIZE - 1))[:, None, :]
        return state.grid.view(-1)[(cells + base).view(len(x), VIEW * VIEW)]


def shown(codes: Tensor, channels: Tensor) -> Tensor:
    """Observations of codes: float32 (n, 2, 11, 11).

    channels: float32 (2, 3), what each channel shows of an empty cell, of food and of poison.
    """
    return channels[:, codes.long()].transpose(0, 1).reshape(-1, *OBSERVATION_SHAPE)

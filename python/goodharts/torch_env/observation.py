"""Observations (G7): the cells around an agent as codes, and the two channels that they become."""

import torch
from torch import Tensor

from goodharts.rules import NUM_CELLS, OBSERVATION_SHAPE, REACH, SIZE, VIEW
from goodharts.torch_env.marks import Marks
from goodharts.torch_env.state import State


class ViewReader:
    """Reader of the cells around agents: holds the offsets for it, and counts views that reach over an edge."""

    def __init__(self, games: int, device: torch.device, marks: Marks | None) -> None:
        along = (torch.arange(SIZE)[:, None] + torch.arange(-REACH, REACH + 1)) % SIZE
        self._columns = along.to(device)  # (128, 11): the columns in view from each column
        self._lines = (along * SIZE).to(device)  # the first cells of the lines in view from each line
        self._base = torch.arange(0, games * NUM_CELLS, NUM_CELLS, device=device)[:, None]
        self._marks = marks

    def codes(self, state: State, rows: Tensor | None = None, counted: Tensor | None = None) -> Tensor:
        """Read the cells around agents, in some rows (n,) or in all: int8 (n, 121), row by row.

        counted: bool (n,), the views that marks count; None: all.
        """
        everyone = state.x, state.y, self._base
        x, y, base = everyone if rows is None else (column[rows] for column in everyone)
        if self._marks:
            looks = torch.ones_like(x, dtype=torch.bool) if counted is None else counted
            self._marks.add("G7.look", looks)
            self._marks.add("G7.over_the_edge", looks & (_is_near_edge(x) | _is_near_edge(y)))
        lines, columns = self._lines.index_select(0, y) + base, self._columns.index_select(0, x)
        cells = lines[:, :, None] + columns[:, None, :]
        return state.grid.view(-1).index_select(0, cells.view(-1)).view(len(x), VIEW * VIEW)


def observation_of(codes: Tensor, channels: Tensor) -> Tensor:
    """Observations of codes: float32 (n, 2, 11, 11). channels: (2, 3), their values of nothing, food and poison."""
    shows = channels.index_select(1, codes.flatten().int())
    return shows.view(len(channels), *codes.shape).transpose(0, 1).reshape(-1, *OBSERVATION_SHAPE)


def _is_near_edge(along: Tensor) -> Tensor:
    return (along < REACH) | (along >= SIZE - REACH)

"""Placement of items and agents: new episodes (G3), what reappears (G5), and respawns (G6)."""

import functools
import math
from typing import NamedTuple

import torch
from torch import Tensor

from goodharts.rules import EMPTY, FOOD, NUM_CELLS, POISON, SIZE, Numbers
from goodharts.torch_env import random
from goodharts.torch_env.marks import Marks
from goodharts.torch_env.state import State

DRAWS = 64
"""Draws that look for an empty cell before the lowest empty cell is taken."""
_EMPTY, _FOOD, _POISON = (torch.tensor(kind, dtype=torch.int8) for kind in (EMPTY, FOOD, POISON))
"""Contents of a cell in the dtype of a grid."""


def new_episode(key: Tensor, event: Tensor, numbers: Numbers, evaluating: bool, marks: Marks | None) -> State:
    """New episodes for the games with these keys, int32 (n, 2), at these events, (n,), by G3.

    Takes about as much memory for each game as ``bytes_a_game`` says.
    """
    device, games = key.device, len(key)
    pairs = _pairs_expected(numbers.most_items(evaluating))
    words = random.words(key, event, _addresses(pairs, device))
    if evaluating:
        food = torch.full((games,), numbers.evaluation_food, device=device)
        poison = torch.full((games,), numbers.evaluation_poison, device=device)
    else:
        food = random.between(words[:, 0], numbers.min_food, numbers.max_food)
        poison = random.between(words[:, 2], numbers.min_poison, numbers.max_poison)
    items = (food + poison)[:, None]
    draws = _drawn(random.cell(words[:, 4:]))
    while not bool((draws.distinct[:, -1:] > items).all()):  # too many draws fell on the same cells
        # There are enough addresses: ``rules.MOST_ITEMS`` ensures this.
        pairs = min(2 * pairs, random.PAIRS_OF_A_SITE)
        draws = _drawn(random.cell(random.words(key, event, random.address(random.PLACE, pairs, device))))
    # By the rank of a cell's first draw: further draws of the cell do not change its content.
    rank = draws.distinct.gather(1, draws.first)
    kind = torch.where(rank <= food[:, None], _FOOD, torch.where(rank <= items, _POISON, _EMPTY))
    grid = torch.zeros((games, NUM_CELLS), dtype=torch.int8, device=device).scatter_(1, draws.cells, kind)
    are_before = draws.distinct <= items  # the draws before the agent's
    agent = draws.cells.gather(1, are_before.sum(dim=1, keepdim=True))[:, 0]
    if marks:
        marks.add("G3.place", games)
        marks.add("G3.drawn_again", are_before.sum(dim=1) > items[:, 0])
    return State(
        grid=grid,
        x=agent % SIZE,
        y=agent // SIZE,
        energy=torch.full((games,), numbers.start_energy, device=device),
        steps=torch.zeros(games, dtype=torch.int64, device=device),
        event=event.clone(),
        key=key.clone(),
        food_count=food,
        poison_count=poison,
    )


def bytes_a_game(numbers: Numbers, evaluating: bool) -> int:
    """Estimate the memory that drawing an episode takes: the table of first draws, the grid, and numbers per draw."""
    return 5 * NUM_CELLS + 2 * 32 * _pairs_expected(numbers.most_items(evaluating))


def _pairs_expected(items: int) -> int:
    """Number of pairs of draws that almost always contain enough distinct cells for the items and the agent."""
    draws = -NUM_CELLS * math.log(1 - (items + 1) / NUM_CELLS)
    return min(int(draws * 1.05 / 2) + 16, random.PAIRS_OF_A_SITE)


@functools.cache
def _addresses(pairs: int, device: torch.device) -> Tensor:
    """Addresses of an episode's draws: its two counts, and ``pairs`` addresses for its places; int32 (2 + pairs,)."""
    drawn = ((random.FOOD_COUNT, 1), (random.POISON_COUNT, 1), (random.PLACE, pairs))
    return torch.cat([random.address(site, count, device) for site, count in drawn])


class _Draws(NamedTuple):
    """Cells that were drawn, game by game, all int64 (n, k).

    cells: the draws. first: the number of the first draw of the same cell. distinct: how many different cells were
    drawn up to each draw, inclusive; at a cell's first draw this is its rank by first appearance, from 1.
    """

    cells: Tensor
    first: Tensor
    distinct: Tensor


def _drawn(cells: Tensor) -> _Draws:
    games, draws = cells.shape
    number = torch.arange(draws, dtype=torch.int32, device=cells.device).expand(games, draws)
    drawn_at = torch.full((games, NUM_CELLS), draws, dtype=torch.int32, device=cells.device)
    first = drawn_at.scatter_reduce_(1, cells, number, "amin").gather(1, cells)
    return _Draws(cells, first.long(), (first == number).cumsum(dim=1))


def first_empty(grid: Tensor, words: Tensor, marks: Marks | None, rule: str) -> Tensor:
    """First empty cell of the draws, else the lowest empty cell: int64 (n,).

    Args:
        grid: int8 (n, 16384).
        words: int32 (n, k), the draws.
        marks: counts which draw was taken.
        rule: beginning of the names of its marks.
    """
    cells = random.cell(words)
    is_free = grid.gather(1, cells) == EMPTY
    drawn = is_free.int().argmax(dim=1, keepdim=True)
    found = is_free.any(dim=1)
    lowest = (grid == EMPTY).to(torch.int8).argmax(dim=1)
    if marks:
        marks.add(f"{rule}_later_draw", found & (drawn[:, 0] > 0))
        marks.add(f"{rule}_lowest_cell", ~found)
    return torch.where(found, cells.gather(1, drawn)[:, 0], lowest)

"""Where things and agents are put: a new episode (G3), what reappears (G5), and who respawns (G6)."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from goodharts.rules import FOOD, NUM_CELLS, POISON, SIZE, Numbers
from goodharts.torch_env import random
from goodharts.torch_env.marks import Marks
from goodharts.torch_env.state import State

DRAWS = 64
"""How many draws look for an empty cell, before the lowest one is taken."""


def new_episode(key: Tensor, event: Tensor, numbers: Numbers, evaluating: bool, marks: Marks | None) -> State:
    """New episodes for the games with these keys, int32 (n, 2), at these events, (n,), by G3.

    Takes about as much memory for each game as ``bytes_a_game`` says.
    """
    device, games = key.device, len(key)
    pairs = _pairs_expected(numbers.most_items(evaluating))
    addresses = [
        random.address(random.FOOD_COUNT, 1, device),
        random.address(random.POISON_COUNT, 1, device),
        random.address(random.PLACE, pairs, device),
    ]
    words = random.words(key, event, torch.cat(addresses))
    if evaluating:
        food = torch.full((games,), numbers.evaluation_food, device=device)
        poison = torch.full((games,), numbers.evaluation_poison, device=device)
    else:
        food = random.between(words[:, 0], numbers.min_food, numbers.max_food)
        poison = random.between(words[:, 2], numbers.min_poison, numbers.max_poison)
    placed = _placed(random.cell(words[:, 4:]), food, poison)
    while not bool(placed.is_whole.all()):  # so many draws fell on the same cells that more are needed
        # The addresses suffice: ``rules.MOST_ITEMS`` sees to it.
        pairs = min(2 * pairs, random.PAIRS_OF_A_SITE)
        words = random.words(key, event, random.address(random.PLACE, pairs, device))
        placed = _placed(random.cell(words), food, poison)
    if marks:
        marks.add("G3.place", games)
        marks.add("G3.drawn_again", placed.drew_again)
    return State(
        grid=placed.grid,
        x=placed.agent % SIZE,
        y=placed.agent // SIZE,
        energy=torch.full((games,), numbers.start_energy, device=device),
        steps=torch.zeros(games, dtype=torch.int64, device=device),
        event=event.clone(),
        key=key.clone(),
        food_count=food,
        poison_count=poison,
    )


def bytes_a_game(numbers: Numbers, evaluating: bool) -> int:
    """About how much memory drawing an episode takes: what finds repeated draws, the grid, and each draw's numbers."""
    return 5 * NUM_CELLS + 2 * 32 * _pairs_expected(numbers.most_items(evaluating))


def _pairs_expected(items: int) -> int:
    """Pairs of draws among which cells for so many items, and the agent's, almost always are."""
    draws = -NUM_CELLS * math.log(1 - (items + 1) / NUM_CELLS)
    return min(int(draws * 1.05 / 2) + 16, random.PAIRS_OF_A_SITE)


class _Placed(NamedTuple):
    """What draws placed, game by game; nothing of it counts where ``is_whole`` is false.

    grid: int8 (n, 16384). agent: the agent's cell, (n,). is_whole: bool (n,), whether the draws were enough.
    drew_again: bool (n,), whether a draw before the agent's fell on a cell that had been drawn.
    """

    grid: Tensor
    agent: Tensor
    is_whole: Tensor
    drew_again: Tensor


def _placed(cells: Tensor, food: Tensor, poison: Tensor) -> _Placed:
    """What draws, cells (n, k), place in games with so much food and poison, (n,)."""
    games, draws = cells.shape
    items = (food + poison)[:, None]
    number = torch.arange(draws, dtype=torch.int32, device=cells.device).expand(games, draws)
    drawn_at = torch.full((games, NUM_CELLS), draws, dtype=torch.int32, device=cells.device)
    first = drawn_at.scatter_reduce_(1, cells, number, "amin").gather(1, cells)
    is_new = first == number
    distinct = is_new.cumsum(dim=1)
    # A cell's rank in the order of first appearance, from 1: drawn again, it holds what its first draw put there.
    rank = distinct.gather(1, first.long())
    kind = torch.where(rank <= food[:, None], FOOD, torch.where(rank <= items, POISON, 0))
    grid = torch.zeros((games, NUM_CELLS), dtype=torch.int8, device=cells.device)
    grid.scatter_(1, cells, kind.to(torch.int8))
    is_agent = rank == items + 1
    return _Placed(
        grid=grid,
        agent=cells.gather(1, is_agent.int().argmax(dim=1, keepdim=True))[:, 0],
        is_whole=is_agent.any(dim=1),
        drew_again=(~is_new & (distinct <= items)).any(dim=1),
    )


def first_empty(grid: Tensor, words: Tensor, taken: Tensor | None, marks: Marks | None, rule: str) -> Tensor:
    """The first of the cells drawn that is empty and not ``taken``, else the lowest such cell: int64 (n,).

    Args:
        grid: int8 (n, 16384).
        words: int32 (n, k), the draws.
        taken: (n,), a cell that is out of question.
        marks: where it is counted which draw it was.
        rule: under which rule's name.
    """
    cells = random.cell(words)
    is_free = grid.gather(1, cells) == 0
    is_empty = grid == 0
    if taken is not None:
        is_free &= cells != taken[:, None]
        is_empty.scatter_(1, taken[:, None], False)
    drawn = is_free.int().argmax(dim=1, keepdim=True)
    found = is_free.any(dim=1)
    lowest = is_empty.to(torch.int8).argmax(dim=1)
    if marks:
        marks.add(f"{rule}_later_draw", found & (drawn[:, 0] > 0))
        marks.add(f"{rule}_lowest_cell", ~found)
    return torch.where(found, cells.gather(1, drawn)[:, 0], lowest)

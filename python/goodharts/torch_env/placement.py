"""Where things and agents are put: a new episode (G3), what reappears (G5), and who respawns (G6)."""

import torch
from torch import Tensor

from goodharts.rules import FOOD, NUM_CELLS, POISON, Numbers
from goodharts.torch_env import random
from goodharts.torch_env.marks import Marks
from goodharts.torch_env.state import State

DRAWS = 64
"""How many draws look for an empty cell, before the lowest one is taken."""


def new_episode(key: Tensor, event: Tensor, numbers: Numbers, evaluating: bool, marks: Marks | None) -> State:
    """New episodes for the games with these keys, int32 (n, 2), at these events, (n,), by G3."""
    device, games = key.device, len(key)
    most = numbers.evaluation_food + numbers.evaluation_poison if evaluating else numbers.max_food + numbers.max_poison
    pairs = _pairs_for(most + 1)
    addresses = [
        random.address(random.FOOD_COUNT, 1, device),
        random.address(random.POISON_COUNT, 1, device),
        random.address(random.PLACE, pairs, device),
    ]
    words = random.words(key, event.to(torch.int32), torch.cat(addresses))
    if evaluating:
        food = torch.full((games,), numbers.evaluation_food, device=device)
        poison = torch.full((games,), numbers.evaluation_poison, device=device)
    else:
        food = random.between(words[:, 0], numbers.min_food, numbers.max_food)
        poison = random.between(words[:, 2], numbers.min_poison, numbers.max_poison)
    cells = random.cell(words[:, 4:])
    grid, agent, is_placed = _placed(cells, food, poison, marks)
    while not bool(is_placed.all()):  # so many draws fell on the same cells that more are needed
        pairs *= 2
        cells = random.cell(random.words(key, event.to(torch.int32), random.address(random.PLACE, pairs, device)))
        grid, agent, is_placed = _placed(cells, food, poison, None)
    if marks:
        marks.add("G3.place", games)
    return State(
        grid=grid,
        x=agent % 128,
        y=agent // 128,
        energy=torch.full((games,), numbers.start_energy, device=device),
        steps=torch.zeros(games, dtype=torch.int64, device=device),
        event=event.clone(),
        key=key.clone(),
        food_count=food,
        poison_count=poison,
    )


def _pairs_for(distinct: int) -> int:
    """Pairs of draws among which so many distinct cells almost always are."""
    expected = distinct / (1 - distinct / NUM_CELLS)
    return int(expected * 1.05 / 2) + 16


def _placed(cells: Tensor, food: Tensor, poison: Tensor, marks: Marks | None) -> tuple[Tensor, Tensor, Tensor]:
    """Grids int8 (n, 16384), the agents' cells (n,), and whether the draws, cells (n, k), were enough, bool (n,)."""
    games, draws = cells.shape
    order = torch.arange(draws, dtype=torch.int32, device=cells.device).expand(games, draws)
    seen_at = torch.full((games, NUM_CELLS), draws, dtype=torch.int32, device=cells.device)
    seen_at.scatter_reduce_(1, cells, order, "amin")
    first = seen_at.gather(1, cells)
    is_new = first == order
    rank = is_new.cumsum(dim=1)
    # A cell that is drawn again holds what its first draw put there.
    rank = rank.gather(1, first.long())
    kind = torch.where(rank <= food[:, None], FOOD, torch.where(rank <= (food + poison)[:, None], POISON, 0))
    grid = torch.zeros((games, NUM_CELLS), dtype=torch.int8, device=cells.device)
    grid.scatter_(1, cells, kind.to(torch.int8))
    is_agent = rank == (food + poison + 1)[:, None]
    agent = cells.gather(1, is_agent.int().argmax(dim=1, keepdim=True))[:, 0]
    if marks:
        marks.add("G3.drawn_again", (~is_new & (rank <= (food + poison + 1)[:, None])).any(dim=1))
    return grid, agent, is_agent.any(dim=1)


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

"""Observations (G7)."""

import numpy as np
from numpy.typing import NDArray

from .game import EMPTY, FOOD, POISON, SEES_TRUTH, SIDE, Game

REACH = 5


def observe(game: Game) -> NDArray[np.float32]:
    """The view around the agent, float32 (2, 11, 11)."""
    seen = np.zeros((2, 2 * REACH + 1, 2 * REACH + 1), np.float32)
    for line, dy in enumerate(range(-REACH, REACH + 1)):
        for column, dx in enumerate(range(-REACH, REACH + 1)):
            held = game.at(dx, dy)
            if held == EMPTY:
                continue
            is_food, is_poison = held == FOOD, held == POISON
            if game.mode in SEES_TRUTH:
                seen[:, line, column] = is_food, is_poison
            else:
                interest = game.numbers.food_interest * is_food + game.numbers.poison_interest * is_poison
                seen[:, line, column] = interest / 1000
    game.marks["G7.look"] += 1
    edges = (game.x, game.y)
    game.marks["G7.over_the_edge"] += min(edges) < REACH or max(edges) >= SIDE - REACH
    return seen

"""Policies that steer towards seldom reached rules: weights of the actions from the agent's observations."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from goodharts.rules import ACTIONS, DEFAULT_NUMBERS, MOVES, REACH, VIEW
from rlparity import Policy, View

Weights = NDArray[np.float64]
Cells = NDArray[np.bool_]

_FAR = 99
_REACH = np.arange(-REACH, REACH + 1)
_DISTANCES = np.stack([np.maximum(abs(_REACH[:, None] - dy), abs(_REACH[None, :] - dx)) for dx, dy in MOVES])
"""King's distances from where each move leads to each cell in view, (8, 11, 11)."""
_AROUND = (2, 4, 7, 6, 5, 3, 0, 1)
"""The eight moves, each turned by 45° from the one before, so that together they lead back to the start."""
_SELDOM = 0.02
"""Weight of a move that a policy avoids."""


def eat(view: View) -> Weights:
    """Goes for food and around poison: lives long."""
    food, poison = _kinds(view)
    return np.where(_lands_on(poison), _SELDOM / 10, _towards(food))


def seek_poison(view: View) -> Weights:
    """Goes for poison: dies of it."""
    _, poison = _kinds(view)
    return _towards(poison)


def starve(view: View) -> Weights:
    """Eats nothing, as long as there is a way around."""
    food, poison = _kinds(view)
    return np.where(_lands_on(food | poison), _SELDOM, 1.0)


def wander(view: View) -> Weights:
    """Moves in one direction, which depends on the game, and so over the edges."""
    return np.where(view.slots[:, None] % len(ACTIONS) == np.arange(len(ACTIONS)), 1.0, _SELDOM)


def circle(view: View) -> Weights:
    """Turns a little at every step, and so walks in circles."""
    events = np.array([state["event"] for state in view.states()])
    return np.where(np.take(_AROUND, events % len(_AROUND))[:, None] == np.arange(len(ACTIONS)), 1.0, _SELDOM)


POLICIES: Mapping[str, Policy] = {each.__name__: each for each in (eat, seek_poison, starve, wander, circle)}


def _kinds(view: View) -> tuple[Cells, Cells]:
    """Food and poison in view, each (k, 11, 11): from one channel each, or from the interest in both channels (G7)."""
    first, second = view.observation[:, 0], view.observation[:, 1]
    interests = DEFAULT_NUMBERS.food_interest, DEFAULT_NUMBERS.poison_interest
    food, poison = ((first == second) & (first == np.float32(interest / 1000)) for interest in interests)
    return food | (first > second), poison | (first < second)


def _towards(wanted: Cells) -> Weights:
    """Prefer the moves that lead nearest to a wanted cell; all moves where none is in view."""
    distances = np.where(wanted[:, None], _DISTANCES, _FAR).min(axis=(2, 3))
    return np.where(distances == distances.min(axis=1, keepdims=True), 1.0, _SELDOM)


def _lands_on(cells: Cells) -> Cells:
    """The moves that lead onto one of these cells, (k, 8)."""
    middle = VIEW // 2
    return np.stack([cells[:, middle + dy, middle + dx] for dx, dy in MOVES], axis=1)

"""Simple policies of games that several pairs have."""

from collections.abc import Callable, Mapping

import numpy as np

from rlparity.agent import Policy, View
from rlparity.engine import Array


def of(choose: Callable[[Array], Array]) -> Policy:
    """The policy that takes the actions which are chosen by the observations."""

    def policy(view: View) -> Array:
        weights = np.zeros(view.mask.shape)
        weights[np.arange(len(weights)), choose(view.observation)] = 1
        return weights

    return policy


def biased(*weights: float) -> Policy:
    """The policy that draws actions by fixed weights."""
    return lambda view: np.tile(np.array(weights), (len(view.mask), 1))


UPRIGHT = of(lambda seen: (seen[:, 2] + seen[:, 3] > 0).astype(int))
"""CartPole: push to the side to which the pole falls."""
ROCKING = of(lambda seen: 2 * (seen[:, 1] > 0).astype(int))
"""MountainCar: push the way that the car rolls."""
SWINGING = of(lambda seen: 2 * (seen[:, 4] < 0).astype(int))
"""Acrobot: push the lower link the way that the upper one swings."""
BASIC = of(lambda seen: (seen[:, 0] < np.where(seen[:, 2] > 0, 19, 17)).astype(int))
"""Blackjack: stick at 17, or at 19 where an ace counts as 11."""
POLICIES: Mapping[str, Policy] = {"upright": UPRIGHT, "rocking": ROCKING, "swinging": SWINGING, "basic": BASIC}


def _follow(seen: Array) -> Array:
    ball, paddle = seen[..., 1].any(axis=1).argmax(axis=1), seen[:, 9, :, 0].argmax(axis=1)
    return np.where(ball < paddle, 1, np.where(ball > paddle, 2, 0))


MINATAR: Mapping[str, Policy] = {
    "breakout": of(_follow),  # the paddle stays below the ball
    "space_invaders": biased(1, 1, 1, 3),
    "asterix": biased(1, 2, 1, 2, 1),
    "freeway": biased(0, 1, 0),  # always up
    "seaquest": biased(1, 2, 1, 2, 2, 4),  # shoots, and dives more often than it surfaces
}
"""Policies of the games of MinAtar with their own sets of actions."""


AGENT, PICKED = 10, (5, 6, 7)
"""Of MiniGrid's types: the agent, and keys, balls and boxes."""
STEPS = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
WEIGHTS = {1: (1, 1, 6, 0.1, 1, 0.1, 0.1), 4: (1, 1, 3, 0.1, 1, 3, 0.1), 8: (1, 1, 4, 0.1, 2, 0.1, 1)}
HANDLED = (1, 1, 1, 4, 1, 1, 1)
"""Weights of the actions by what is in front of the agent."""


def explorer(view: View) -> Array:
    """MiniGrid: walk, and handle what is met."""
    grids = view.observation["grid"]
    rows, columns = np.array([np.argwhere(grid[..., 0] == AGENT)[0] for grid in grids]).T
    games = np.arange(len(grids))
    ahead = np.stack([rows, columns], 1) + STEPS[grids[games, rows, columns, 2] % 4]
    fronts = grids[games, ahead[:, 0] % grids.shape[1], ahead[:, 1] % grids.shape[2], 0]
    return np.array(
        [HANDLED if front in PICKED else WEIGHTS.get(front, (1, 1, 0.2, 0.1, 0.1, 0.1, 0.1)) for front in fronts]
    )

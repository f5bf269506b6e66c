"""Action sources of a run; they look at the reference engine only and draw from one seed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.agent import Policy, View
from rlparity.core.pair import Outputs
from rlparity.engine import Array, Slots, State
from rlparity.errors import UsageError, blamed
from rlparity.spaces import Box
from rlparity.world import World

DIRECTED_START_SHARE = 0.75
TRACES = "traces:"
POLICY = "policy:"
NO_SLOTS: Slots = np.zeros(0, np.intp)


def uniform_policy(view: View) -> Array:
    """The same weight for every action."""
    return np.ones(view.mask.shape)


class Source:
    """Action source of a run: one policy for all games, without made starts."""

    def __init__(self, policy: Policy = uniform_policy) -> None:
        self._policy = policy

    def starts(self, slots: Slots) -> dict[int, State]:
        """Made states, by slot, for those newly started games that are to begin in one instead."""
        return {}

    def unmutated(self, made: Mapping[int, State]) -> dict[int, State] | None:
        """States to use instead of ``made`` ones that an engine refused; None where there are none."""
        return None

    def actions(self, view: View, rng: np.random.Generator, invalid: float, space: Box | None) -> NDArray[Any]:
        """Choose the next action of every game with ``choose_actions``."""
        return choose_actions(rng, self.weights(view), view.mask, invalid, space)

    def watch(self, seen: Outputs) -> Slots:
        """Take in what a step of all games showed; returns slots in which ``starts`` may begin other games at once."""
        return NO_SLOTS

    def weights(self, view: View) -> Array:
        """Weights (games, actions) of the next action of every game; invalid ones are masked later."""
        with blamed("the policy"):
            return self._policy(view)


class DirectedSource(Source):
    """Action source that steers toward rare rules: made starts, and a policy for each game (the world's or uniform)."""

    def __init__(self, world: World, games: int, rng: np.random.Generator) -> None:
        self._makers = list(world.starts.items())
        self._policies = {"uniform": uniform_policy, **world.policies}
        self._rng = rng
        self._chosen = np.zeros(games, dtype=np.intp)

    def starts(self, slots: Slots) -> dict[int, State]:
        """Draw made states for most of the games, and choose a policy for every game."""
        self._chosen[slots] = self._rng.integers(len(self._policies), size=len(slots))
        if not self._makers:
            return {}
        made = slots[self._rng.random(len(slots)) < DIRECTED_START_SHARE]
        return {int(slot): self._made(int(self._rng.integers(len(self._makers))), self._rng) for slot in made}

    def _made(self, maker: int, rng: np.random.Generator) -> State:
        """Draw a state from a start maker; raises UsageError where the maker fails."""
        name, make = self._makers[maker]
        with blamed(f"the start '{name}'"):
            return make(rng)

    def weights(self, view: View) -> Array:
        """Weights (games, actions), for each game by its own policy."""
        weights = np.ones(view.mask.shape)
        for number, (name, policy) in enumerate(self._policies.items()):
            slots = np.flatnonzero(self._chosen == number)
            if slots.size:
                with blamed(f"the policy '{name}'"):
                    weights[slots] = policy(view.part(slots))
        return weights


def choose_actions(
    rng: np.random.Generator,
    weights: Array,
    mask: NDArray[np.bool_],
    invalid_share: float | Array,
    space: Box | None = None,
) -> NDArray[Any]:
    """Draw actions (games,) by ``weights`` among the valid ones, and now and then an invalid one.

    ``invalid_share``: probability, one for all or (games,), that a game with invalid actions draws one of them
    uniformly. A game without valid actions draws among all. Raises UsageError for negative, infinite or NaN weights.
    space: of a world whose actions are arrays, which are drawn uniformly.
    """
    if space is not None:
        return space.sample(rng, len(mask))
    if np.shape(weights) != mask.shape or not np.all(np.isfinite(weights)) or np.any(np.less(weights, 0)):
        raise UsageError(f"the policy's weights must be {mask.shape} finite numbers, none negative: fix the policy.")
    allowed = np.where(mask, np.asarray(weights, dtype=np.float64), 0.0)
    allowed = np.where(allowed.any(axis=1, keepdims=True), allowed, mask)
    actions = _draw(rng, np.where(mask.any(axis=1, keepdims=True), allowed, 1.0))
    wrong = (rng.random(len(mask)) < invalid_share) & ~mask.all(axis=1)
    return np.where(wrong, _draw(rng, np.where(wrong[:, None], ~mask, True)), actions).astype(np.int32)


def _draw(rng: np.random.Generator, weights: Array) -> NDArray[np.intp]:
    """One index for each row, with probability proportional to its weight; every row has some weight."""
    sums = np.cumsum(weights, axis=1, dtype=np.float64)
    chosen: NDArray[np.intp] = np.argmax(sums > rng.random((len(sums), 1)) * sums[:, -1:], axis=1)
    return chosen

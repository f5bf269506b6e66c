"""Episode statistics, counted while episodes are played."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlparity import World
from rlparity.engine import Array, Slots
from rlworldkit.score import Counts, Score, Summary


class Statistics:
    """Running counts of the episodes of n games.

    facts: (n, facts) at the start of the episodes. events: numbers of the events to count.
    """

    def __init__(self, components: int, actions: int, facts: Array, events: Sequence[int] = ()) -> None:
        num_games = len(facts)
        self._event_bits = np.array([1 << event for event in events], np.uint32)[:, None]
        self._events = np.zeros((len(events), num_games), np.int64)
        self._first_action = actions * np.arange(num_games)
        """Offset of each game in the flat counts of actions."""
        self._components = np.zeros((num_games, components))
        self._actions = np.zeros((num_games, actions), np.int64)
        self._maxima = facts.copy()

    @property
    def steps(self) -> NDArray[np.int64]:
        """Steps of each game's episode, (n,)."""
        steps: NDArray[np.int64] = self._actions.sum(axis=1)
        return steps

    def start(self, slots: Slots, facts: Array) -> None:
        """Reset the counts in slots (k,) for new episodes with these facts (k, facts)."""
        self._components[slots], self._actions[slots], self._maxima[slots] = 0, 0, facts
        self._events[:, slots] = 0

    def add(
        self,
        actions: NDArray[np.int32],
        components: Array,
        facts: Array,
        played: NDArray[np.bool_],
        events: NDArray[np.uint32],
    ) -> None:
        """Count one step of the games that ``played``, bool (n,).

        actions (n,). components (n, components), events (n,): 0 for games not played. facts (n, facts): after the step.
        """
        # numpy adds arrays of one dtype, and indexes arrays of one dimension, much faster than others
        np.add(self._components, components.astype(np.float64), out=self._components)
        uses, taken = self._actions.reshape(-1), self._first_action + actions
        uses[taken] = uses[taken] + played
        np.maximum(self._maxima, facts, out=self._maxima)
        if len(self._event_bits):
            self._events += (events & self._event_bits) > 0

    def of(self, slots: Slots) -> Counts:
        """Return the counts of the episodes in slots (k,)."""
        actions = self._actions[slots]
        events = self._events[:, slots].T
        return Counts(self._components[slots], actions, self._maxima[slots], actions.sum(axis=1), events)


def summary(world: World, score: Score, counts: Counts) -> Summary:
    """Make ``info["episode_stats"]`` of the episodes counted; every leaf is an array (k,).

    ``return`` and ``reward_breakdown`` (by component) in units of the reward, ``actions`` (uses by name),
    ``steps``, and the world's own statistics.
    """
    return {
        "return": world.in_rewards(counts.components.sum(axis=1)),
        "reward_breakdown": dict(zip(world.components, world.in_rewards(counts.components).T, strict=True)),
        "actions": dict(zip(world.actions, counts.actions.T, strict=True)),
        "steps": counts.steps,
        **score.statistics(counts),
    }

"""What is counted of every episode while it is played."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hackmatrix.rules import ACTION_KINDS, ACTIONS, COMPONENTS, SIPHON

PROGRAMS = ACTIONS[SIPHON + 1 :]


class Statistics:
    """Running counts of the episodes of n games."""

    def __init__(self, num_games: int) -> None:
        self._games = np.arange(num_games)
        self._components = np.zeros((num_games, len(COMPONENTS)), np.int64)
        self._actions = np.zeros((num_games, len(ACTIONS)), np.int64)
        self._highest_stage = np.zeros(num_games, np.int64)
        self.steps = np.zeros(num_games, np.int64)
        """How many steps the episode of each game has had, (n,)."""

    def start(self, slots: NDArray[np.intp], stages: NDArray[np.integer[Any]]) -> None:
        """New episodes in slots (k,), at these stages (k,)."""
        for counts in (self._components, self._actions, self.steps):
            counts[slots] = 0
        self._highest_stage[slots] = stages

    def add(
        self,
        actions: NDArray[np.integer[Any]],
        components: NDArray[np.int32],
        stages: NDArray[np.integer[Any]],
        played: NDArray[np.bool_],
    ) -> None:
        """One step of the games that ``played``, bool (n,).

        actions (n,), components (n, 15) in thousandths, 0 where nothing was played, stages (n,) after it.
        """
        self._components += components
        self._actions[self._games, actions] += played
        np.maximum(self._highest_stage, stages, out=self._highest_stage)
        self.steps += played

    def summary(self, slots: NDArray[np.intp]) -> dict[str, Any]:
        """Of the episodes in slots (k,), every leaf an array (k,).

        ``return`` and ``reward_breakdown`` (15 keys) in units of the reward, ``actions`` (3 kinds) and
        ``programs_used`` (23 names) as counts, ``highest_stage`` (9 is a game won), ``steps``.
        """
        components, actions = self._components[slots], self._actions[slots]
        programs = actions[:, SIPHON + 1 :]
        kinds = (actions[:, :SIPHON].sum(axis=1), actions[:, SIPHON], programs.sum(axis=1))
        return {
            "return": components.sum(axis=1) / 1000,
            "reward_breakdown": dict(zip(COMPONENTS, (components / 1000).T, strict=True)),
            "actions": dict(zip(ACTION_KINDS, kinds, strict=True)),
            "programs_used": dict(zip(PROGRAMS, programs.T, strict=True)),
            "highest_stage": self._highest_stage[slots],
            "steps": self.steps[slots],
        }

    def of(self, game: int) -> dict[str, Any]:
        """``summary`` of one episode, with plain numbers."""
        return _row(self.summary(np.array([game])))


def _row(summary: dict[str, Any]) -> dict[str, Any]:
    return {name: _row(value) if isinstance(value, dict) else value[0].item() for name, value in summary.items()}

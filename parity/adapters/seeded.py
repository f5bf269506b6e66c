"""Environments that take a seed when they are made, dm_env's and EnvPool's: each episode has one of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from parity.adapters.observations import as_array
from parity.adapters.single import Outcome, SingleGame


class DmEnvGame(SingleGame):
    """One game of ``make(seed)``, a ``dm_env.Environment``. An end with a discount above 0 is a truncation."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._env: Any = None

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an observation
        self.close()
        self._env = self._make(seed)
        return self._env.reset().observation

    def act(self, action: Any) -> Outcome:  # noqa: ANN401 - an int or an array
        step = self._env.step(action)
        goes_on = np.greater(step.discount, 0)
        reward = step.reward if np.ndim(step.reward) else float(step.reward)
        return Outcome(step.observation, reward, step.last() & ~goes_on, step.last() & goes_on)

    def close(self) -> None:
        if self._env is not None:
            self._env.close()


class EnvPoolGame(SingleGame):
    """One game of ``make(seed)``, a pool of one environment with ``env_type="gymnasium"``."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an observation
        self._pool = self._make(seed)
        observation, _ = self._pool.reset()
        return as_array(observation, axes=1)[0]

    def act(self, action: Any) -> Outcome:  # noqa: ANN401 - an int or an array
        given = np.asarray(action)[None]
        observation, reward, terminated, truncated, _ = self._pool.step(given)
        return Outcome(as_array(observation, axes=1)[0], float(reward[0]), terminated[0], truncated[0])

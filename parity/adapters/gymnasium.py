"""A Gymnasium environment as an engine of single games."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from parity.adapters.single import Outcome, SingleGame
from parity.engine import State

if TYPE_CHECKING:
    import gymnasium


class GymGame(SingleGame):
    """One game of ``make()``, an environment with discrete actions.

    Args:
        make: a new environment, without wrappers that draw or limit time on their own.
        to_dict: the complete state of the unwrapped environment as JSON values; None: a state is seed and actions.
        from_dict: ``from_dict(dict, env)`` puts such a state into an environment that was just reset.
        observe: the observation of the unwrapped environment in the present state; needed with ``from_dict``.
        mask: the valid actions, (actions,) bool, of the unwrapped environment; None: all are.
    """

    def __init__(
        self,
        make: Callable[[], gymnasium.Env[Any, Any]],
        to_dict: Callable[[Any], State] | None = None,
        from_dict: Callable[[State, Any], None] | None = None,
        observe: Callable[[Any], ArrayLike] | None = None,
        mask: Callable[[Any], ArrayLike] | None = None,
    ) -> None:
        self._env, self._observe, self._mask = make(), observe, mask
        self._to_dict, self._from_dict = to_dict, from_dict
        self._inner: Any = self._env.unwrapped
        self.has_states = to_dict is not None

    def begin(self, seed: int) -> ArrayLike:
        observation, _ = self._env.reset(seed=seed)
        return np.array(observation)

    def act(self, action: int) -> Outcome:
        observation, reward, terminated, truncated, _ = self._env.step(action)
        return Outcome(np.array(observation), float(reward), bool(terminated), bool(truncated))

    def mask(self) -> ArrayLike | None:
        return None if self._mask is None else self._mask(self._inner)

    def pull(self) -> State:
        assert self._to_dict is not None
        return self._to_dict(self._inner)

    def push(self, state: State) -> ArrayLike:
        assert self._observe is not None
        assert self._from_dict is not None
        self._env.reset()  # one that has ended would refuse to go on
        self._from_dict(state, self._inner)
        return np.array(self._observe(self._inner))

    def close(self) -> None:
        self._env.close()

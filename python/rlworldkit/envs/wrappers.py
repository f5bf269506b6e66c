"""Wrapper for trainers that read the action mask from the observation."""

from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlparity.errors import UsageError


class MaskInObservation(gym.Wrapper[dict[str, Any], Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Wrapper that adds ``info["action_mask"]`` to the observation: a Dict of the observation itself and the mask.

    Args:
        env: an environment whose infos have ``action_mask``, and whose actions are Discrete.
        observation: key of the observation in the Dict, as the trainer expects it.
        mask: key of the mask, int8 (actions,).

    Raises:
        UsageError: the actions are not Discrete.
    """

    def __init__(self, env: gym.Env[Any, Any], observation: str = "observation", mask: str = "action_mask") -> None:
        gym.utils.RecordConstructorArgs.__init__(self, observation=observation, mask=mask)
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.action_space, spaces.Discrete):
            raise UsageError(f"a mask belongs to Discrete actions, not to {env.action_space}: leave the wrapper out.")
        actions = spaces.MultiBinary(int(env.action_space.n))
        self.observation_space = spaces.Dict({observation: env.observation_space, mask: actions})
        self._observation, self._mask = observation, mask

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._with_mask(observation, info), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:  # noqa: ANN401 - Gymnasium's
        """Play one action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._with_mask(observation, info), reward, terminated, truncated, info

    def _with_mask(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - any observation
        return {self._observation: observation, self._mask: np.asarray(info["action_mask"], np.int8)}

"""The Dict observation of ``HackMatrix-v0`` as one vector, for one game and for many."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv, VectorObservationWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hackmatrix.env_spec import Observation, flat_space, join


class FlatObservation(
    gym.ObservationWrapper[NDArray[np.float32], np.int64, Observation], gym.utils.RecordConstructorArgs
):
    """The observation as one vector, float32 (1545,), in the order O: player, programs, grid.

    `gymnasium.wrappers.FlattenObservation` would sort the keys.
    """

    def __init__(self, env: gym.Env[Observation, np.int64]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self.observation_space = flat_space()

    def observation(self, observation: Observation) -> NDArray[np.float32]:
        """One vector of the parts."""
        return join(observation)


class FlatVectorObservation(VectorObservationWrapper, gym.utils.RecordConstructorArgs):
    """The same for a vector environment: float32 (n, 1545)."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        VectorObservationWrapper.__init__(self, env)
        self.single_observation_space = flat_space()
        self.observation_space = batch_space(flat_space(), env.num_envs)

    def observations(self, observations: Any) -> Any:  # noqa: ANN401 - Gymnasium's signature
        """One vector of the parts of every game."""
        return join(observations)

"""Wrappers that flatten the Dict observation of ``HackMatrix-v0``, for one game and for many."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.wrappers import TransformObservation
from gymnasium.wrappers.vector import TransformObservation as TransformVectorObservation
from numpy.typing import NDArray

from hackmatrix.spaces import Observation, flat_space, join


class FlatObservation(TransformObservation[NDArray[np.float32], np.int64, Observation]):  # type: ignore[misc]
    """The observation as one vector, float32 (1545,), in the order O: player, programs, grid.

    `gymnasium.wrappers.FlattenObservation` would sort the parts by their keys instead.
    """

    def __init__(self, env: gym.Env[Observation, np.int64]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        super().__init__(env, join, flat_space())


class FlatVectorObservation(TransformVectorObservation, gym.utils.RecordConstructorArgs):
    """``FlatObservation`` for a vector environment: float32 (n, 1545)."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        TransformVectorObservation.__init__(self, env, join, single_observation_space=flat_space())

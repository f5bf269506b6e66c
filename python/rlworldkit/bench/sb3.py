"""Benchmark of MaskablePPO on a world, beside MaskablePPO on an environment that costs nothing."""

import dataclasses
import time
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from rlparity import World
from rlworldkit.bench.records import Record, ceiling_names, paired_records
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.sb3.config import MaskablePPOConfig
from rlworldkit.sb3.models import policy_for

STEPS = 256
"""Of each game in a sample, at most: gradient steps are of one size, so that fewer of them take as long each."""


def measure(world: World, config: MaskablePPOConfig, num_envs: int, repetitions: int) -> list[Record]:
    """``sb3_steps_per_second``, ``sb3_ceiling_steps_per_second`` and ``sb3_share_of_ceiling``.

    One sample is a rollout of ``STEPS`` steps and its update with the settings ``config`` in ``num_envs`` games; the
    ceiling is the same in an environment that answers every step with the same observation and mask. The samples of
    both alternate, and the share is that of neighbours. Memory is not measured. Raises EngineError where the engine
    cannot start.
    """
    config = dataclasses.replace(config, n_steps=min(config.n_steps, STEPS))
    with closing(WorldVecEnv(world, num_envs, seed=0)) as games:
        envs = games, ConstantVecEnv(world, num_envs)
        models = [MaskablePPO(policy_for(env.observation_space), env, **config.ppo()) for env in envs]
        pairs = [(_update(models[0]), _update(models[1])) for _ in range(1 + repetitions)][1:]
    return [*paired_records(ceiling_names("sb3"), num_envs, pairs)]


def _update(model: MaskablePPO) -> float:
    steps = model.n_steps * model.n_envs
    start = time.perf_counter()
    model.learn(steps, reset_num_timesteps=False)
    return steps / (time.perf_counter() - start)


class ConstantVecEnv(WorldVecEnv):
    """The spaces of a world, and the first observation of some games for ever: no engine, no ends, no rewards."""

    def __init__(self, world: World, num_envs: int) -> None:
        super().__init__(world, num_envs, seed=0)
        self._first = super().reset()
        self._masks = list(self.action_masks().copy())
        super().close()
        self._rewards, self._dones = np.zeros(num_envs, np.float32), np.zeros(num_envs, np.bool_)

    def reset(self) -> Any:  # noqa: ANN401 - as the world shows observations
        """The one observation."""
        return self._first

    def step_async(self, actions: NDArray[Any]) -> None:
        """Nothing."""

    def step_wait(self) -> VecEnvStepReturn:
        """The one observation."""
        return self._first, self._rewards, self._dones, [{} for _ in range(self.num_envs)]

    def close(self) -> None:
        """Nothing."""

    def env_method(
        self, method_name: str, *method_args: object, indices: VecEnvIndices = None, **method_kwargs: object
    ) -> list[Any]:
        """The masks of the one observation."""
        return self._masks

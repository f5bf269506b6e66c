"""Goodharts as a vector environment of Stable-Baselines3."""

from typing import Any

from goodharts.rules import DEFAULT_MODE
from goodharts.world import world_of
from rlworldkit.envs.sb3_vec_env import WorldVecEnv


class GoodhartsVecEnv(WorldVecEnv):
    """``num_envs`` games of Goodharts; `gym_env.GoodhartsEnv` describes one, `WorldVecEnv` the options of many.

    With the same seeds the results are those of ``DummyVecEnv`` over ``GoodhartsEnv``.
    """

    def __init__(self, num_envs: int, *, mode: str = DEFAULT_MODE, **options: Any) -> None:  # noqa: ANN401
        super().__init__(world_of(mode), num_envs, **options)

"""HackMatrix as a vector environment of Stable-Baselines3."""

from typing import Any

from hackmatrix.world import WORLD
from rlworldkit.envs.sb3_vec_env import WorldVecEnv


class HackMatrixVecEnv(WorldVecEnv):
    """``num_envs`` games of HackMatrix; `gym_env.HackMatrixEnv` describes one, `WorldVecEnv` the options of many.

    With the same seeds the results are those of ``DummyVecEnv`` over ``HackMatrixEnv``.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:  # noqa: ANN401 - as WorldVecEnv has them
        super().__init__(WORLD, num_envs, **options)

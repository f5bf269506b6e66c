"""Benchmark of MaskablePPO on a world."""

import dataclasses
import time
from contextlib import closing

from sb3_contrib import MaskablePPO

from rlparity import World
from rlworldkit.bench.records import Record, plain_record
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.sb3.config import MaskablePPOConfig
from rlworldkit.sb3.models import policy_for

STEPS = 256
"""Most steps of each game in a sample; gradient steps have a fixed size, so that fewer of them take as long each."""


def measure(world: World, config: MaskablePPOConfig, num_envs: int, repetitions: int) -> list[Record]:
    """Measure ``sb3_steps_per_second``: rollouts of at most ``STEPS`` steps and their updates with ``config``.

    A first sample warms up and is not counted; memory is not measured. Raises EngineError if the engine cannot
    start.
    """
    config = dataclasses.replace(config, n_steps=min(config.n_steps, STEPS))
    with closing(WorldVecEnv(world, num_envs, seed=0)) as env:
        model = MaskablePPO(policy_for(env.observation_space), env, **config.ppo())
        samples = [_update(model) for _ in range(1 + repetitions)][1:]
    return [plain_record("sb3_steps_per_second", num_envs, samples)]


def _update(model: MaskablePPO) -> float:
    steps = model.n_steps * model.n_envs
    start = time.perf_counter()
    model.learn(steps, reset_num_timesteps=False)
    return steps / (time.perf_counter() - start)

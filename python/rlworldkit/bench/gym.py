"""Benchmark of the Gymnasium environments of a world: one game, and many in the native vector environment."""

import time
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np

from rlparity import World
from rlparity.core.prices import changed_prices
from rlworldkit.bench.records import Record, plain_record
from rlworldkit.envs.spaces import register

SECONDS_ALONE = 1.0
"""Least duration of a sample of one game, in seconds, since the speeds of worlds differ widely."""
STEPS_PER_GAME = 200


def measure(world: World, num_envs: int, repetitions: int) -> list[Record]:
    """Measure ``gym_steps_per_second`` (``gym.make``) and ``gym_vector_steps_per_second`` (``gym.make_vec``).

    Both play random valid actions in the world's first engine, drawn from ``info["action_mask"]``, and include resets,
    observations, infos and the choice of actions. The second plays ``num_envs`` games. Memory is not measured.
    Raises EngineError if the engine cannot start.
    """
    name, prices = register(world), changed_prices(world)
    native = gymnasium.make_vec(name, num_envs, "vector_entry_point", prices=prices)
    with closing(gymnasium.make(name, prices=prices)) as one, closing(native) as many:
        _play_one(one)
        alone = [_play_one(one) for _ in range(repetitions)]
        _play_many(many)
        together = [_play_many(many) for _ in range(repetitions)]
    return [
        plain_record("gym_steps_per_second", 1, alone),
        plain_record("gym_vector_steps_per_second", num_envs, together),
    ]


def _play_one(env: "gymnasium.Env[Any, np.int64]") -> float:
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    steps, seconds, start = 0, 0.0, time.perf_counter()
    while seconds < SECONDS_ALONE:
        valid = info["action_mask"].nonzero()[0]
        _, _, terminated, truncated, info = env.step(valid[int(rng.random() * len(valid))])
        if terminated or truncated:
            _, info = env.reset()
        steps, seconds = steps + 1, time.perf_counter() - start
    return steps / seconds


def _play_many(env: "gymnasium.vector.VectorEnv[Any, Any, Any]") -> float:
    rng = np.random.default_rng(0)
    _, infos = env.reset(seed=0)
    start = time.perf_counter()
    for _ in range(STEPS_PER_GAME):
        mask = infos["action_mask"]
        actions = (mask * rng.random(mask.shape, np.float32)).argmax(axis=1)
        _, _, _, _, infos = env.step(actions)
    return env.num_envs * STEPS_PER_GAME / (time.perf_counter() - start)

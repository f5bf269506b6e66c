"""Memory stays flat, in the client and in the engine, however long they play."""

import gymnasium as gym
import numpy as np
import psutil
import pytest

import hackmatrix  # noqa: F401 - registers HackMatrix-v0

STEPS, RESETS = 1_000_000, 10_000
MEBIBYTE = 2**20


@pytest.mark.long
def test_a_million_steps_and_ten_thousand_resets_leave_nothing_behind(swift_built: None) -> None:
    env = gym.make("HackMatrix-v0")
    rng = np.random.default_rng(0)
    client = psutil.Process()
    (engine,) = (child for child in client.children() if child.name() == "HackMatrix")
    _, info = env.reset(seed=0)
    used: list[int] = []
    resets = 0
    for step in range(STEPS):
        if step in (STEPS // 10, STEPS - 1):
            used.append(client.memory_info().rss + engine.memory_info().rss)
        valid = info["action_mask"].nonzero()[0]
        _, _, terminated, _, info = env.step(valid[int(rng.random() * len(valid))])
        if terminated:
            resets += 1
            _, info = env.reset()
    env.close()
    assert resets >= RESETS
    print(f"{(used[1] - used[0]) / MEBIBYTE:.2f} MiB more after {STEPS:,} steps and {resets:,} resets")
    assert used[1] - used[0] < 4 * MEBIBYTE

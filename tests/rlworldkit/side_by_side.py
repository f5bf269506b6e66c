"""Many games in one engine beside a library's own environment of single ones, which must say the same."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.played import assert_same, choose


def played_alike(native: Any, alone: Any, steps: int, wrong: float = 0.0) -> Iterator[Any]:  # noqa: ANN401 - environments
    """Reset both and step them with the same random actions, ``wrong`` of them any at all; what both said of each step.

    Games that ended are reset where the environments leave it to the caller.
    """
    rng = np.random.default_rng(0)
    seen, expected = (env.reset(seed=3) for env in (native, alone))
    assert_same(list(seen), list(expected))
    for _ in range(steps):
        actions = choose(seen[-1]["action_mask"], rng, wrong)
        seen, expected = (env.step(actions) for env in (native, alone))
        assert_same(list(seen), list(expected))
        yield seen
        ended = seen[2] | seen[3]
        if native.metadata["autoreset_mode"] is AutoresetMode.DISABLED and ended.any():
            seen, expected = (env.reset(options={"reset_mask": ended}) for env in (native, alone))
            assert_same(list(seen), list(expected))
    native.close()
    alone.close()


def played_alike_in_sb3(native: Any, alone: Any, steps: int, wrong: float = 0.0) -> Iterator[Any]:  # noqa: ANN401
    """The same for vector environments of Stable-Baselines3, where ``native`` tells episodes as ``Monitor`` does."""
    rng = np.random.default_rng(0)
    for env in (native, alone):
        env.seed(21)
    assert_same(native.reset(), alone.reset())
    returns, lengths = np.zeros(native.num_envs), np.zeros(native.num_envs, int)
    for _ in range(steps):
        assert_same(native.reset_infos, alone.reset_infos)
        actions = choose(native.action_masks(), rng, wrong)
        (seen, rewards, dones, infos), (seen_alone, rewards_alone, dones_alone, infos_alone) = (
            env.step(actions) for env in (native, alone)
        )
        assert_same([seen, rewards, dones], [seen_alone, rewards_alone, dones_alone])
        returns, lengths = returns + rewards, lengths + 1
        for game in np.flatnonzero(dones):
            as_monitor_tells = {"r": pytest.approx(returns[game], abs=1e-4), "l": lengths[game], "t": 0.0}
            assert infos[game].pop("episode") == as_monitor_tells
            returns[game] = lengths[game] = 0
        assert_same(infos, infos_alone)
        yield seen, rewards, dones, infos
    native.close()
    alone.close()

"""``max_episode_steps`` of ``gym.make`` and ``gym.make_vec`` means the same for one game and for many."""

from typing import Any

import gymnasium as gym
import pytest
import toy_world.adapter
from gymnasium.vector import AutoresetMode

from parity.errors import UsageError
from tests.worldkit.side_by_side import played_alike
from worldkit.envs.gym_env import WorldEnv
from worldkit.envs.vector_env import WorldVectorEnv

GAMES, LIMIT, STEPS = 6, 4, 150
HERE = "toy_world.adapter:Orchard-v0"
"""Names its module, so that the processes of an AsyncVectorEnv find it too."""


@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.long)])
def test_games_end_at_the_limit_before_it_and_by_both_in_any_vector_environment(mode: Any) -> None:  # noqa: ANN401
    native = gym.make_vec(HERE, GAMES, "vector_entry_point", max_episode_steps=LIMIT)
    others = gym.make_vec(HERE, GAMES, mode, max_episode_steps=LIMIT)
    said = list(played_alike(native, others, STEPS))
    flags = {pair for _, _, terminated, truncated, _ in said for pair in zip(terminated, truncated, strict=True)}
    assert flags == {(False, False), (True, False), (False, True), (True, True)}


def test_same_step_reset_says_the_same_too() -> None:
    mode = AutoresetMode.SAME_STEP
    native = gym.make_vec(HERE, GAMES, "vector_entry_point", max_episode_steps=LIMIT, autoreset_mode=mode)
    sync = gym.make_vec(HERE, GAMES, "sync", vector_kwargs={"autoreset_mode": mode}, max_episode_steps=LIMIT)
    assert len(list(played_alike(native, sync, STEPS))) == STEPS


def test_the_limit_is_that_of_the_innermost_gym_make_and_of_no_other_call() -> None:
    def steps_until_truncated(env: Any) -> int | None:  # noqa: ANN401 - with or without wrappers
        _, info = env.reset(seed=0)
        for step in range(1, 4):
            _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            assert not terminated
            assert ("episode_stats" in info) == truncated
            if truncated:
                return step
        return None

    spec = toy_world.adapter.ENV
    assert steps_until_truncated(gym.make(HERE, max_episode_steps=2)) == 2
    assert steps_until_truncated(gym.make(HERE)) is None
    assert steps_until_truncated(gym.make(HERE, max_episode_steps=-1)) is None
    assert steps_until_truncated(WorldEnv(spec)) is None
    assert steps_until_truncated(WorldEnv(spec, max_episode_steps=3)) == 3
    registered = gym.spec(toy_world.adapter.ENV.id)
    registered.max_episode_steps = 1
    try:
        assert steps_until_truncated(gym.make(HERE)) == 1
        assert steps_until_truncated(gym.make(HERE, max_episode_steps=2)) == 2
    finally:
        registered.max_episode_steps = None


@pytest.mark.parametrize("make", [WorldEnv, WorldVectorEnv])
def test_a_limit_below_one_is_one_sentence(make: Any) -> None:  # noqa: ANN401 - either class
    with pytest.raises(UsageError, match="max_episode_steps must be at least 1, not 0; leave it out for no limit"):
        make(toy_world.adapter.ENV, max_episode_steps=0)

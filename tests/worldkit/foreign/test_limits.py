"""``max_episode_steps`` of ``gym.make`` and ``gym.make_vec`` means the same for one game and for many."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import toy_world.adapter
from gymnasium.vector import AutoresetMode

from parity.errors import UsageError
from tests.played import assert_same, choose
from worldkit.envs.gym_env import WorldEnv
from worldkit.envs.vector_env import WorldVectorEnv

GAMES, LIMIT, STEPS = 6, 4, 150
VectorEnv = gym.vector.VectorEnv[Any, Any, Any]
HERE = "toy_world.adapter:Orchard-v0"
"""Names its module, so that the processes of an AsyncVectorEnv find it too."""


def played(envs: VectorEnv) -> Iterator[Any]:
    """Everything an environment says, from the same seeds and with the same actions."""
    rng = np.random.default_rng(0)
    said: Any = envs.reset(seed=0)
    yield said
    for _ in range(STEPS):
        said = envs.step(choose(said[-1]["action_mask"], rng))
        yield said
    envs.close()


@pytest.fixture(scope="module")
def native() -> list[Any]:
    return list(played(gym.make_vec(HERE, GAMES, "vector_entry_point", max_episode_steps=LIMIT)))


def test_games_end_at_the_limit_before_it_and_by_both(native: list[Any]) -> None:
    flags = {pair for _, _, terminated, truncated, _ in native[1:] for pair in zip(terminated, truncated, strict=True)}
    assert flags == {(False, False), (True, False), (False, True), (True, True)}


@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.long)])
def test_many_games_in_any_vector_environment_say_the_same(mode: Any, native: list[Any]) -> None:  # noqa: ANN401
    envs = gym.make_vec(HERE, GAMES, mode, max_episode_steps=LIMIT)
    for one, other in zip(native, played(envs), strict=True):
        assert_same(list(one), list(other))


def test_same_step_reset_says_the_same_too() -> None:
    mode = AutoresetMode.SAME_STEP
    native = gym.make_vec(HERE, GAMES, "vector_entry_point", max_episode_steps=LIMIT, autoreset_mode=mode)
    sync = gym.make_vec(HERE, GAMES, "sync", vector_kwargs={"autoreset_mode": mode}, max_episode_steps=LIMIT)
    for one, other in zip(played(native), played(sync), strict=True):
        assert_same(list(one), list(other))


def test_one_game_says_the_same(native: list[Any]) -> None:
    env = gym.make(HERE, max_episode_steps=LIMIT)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    over = False
    for before, (_, reward, terminated, truncated, infos) in pairwise(native):
        action = choose(before[-1]["action_mask"], rng)[0]
        _, own_reward, own_terminated, own_truncated, info = env.step(action)
        assert (own_reward, own_terminated, own_truncated) == (reward[0], terminated[0], truncated[0])
        over = own_terminated or own_truncated
        assert ("episode_stats" in info) == over
        if over:
            stats = infos["episode_stats"]
            assert {name: stats[name][0] for name in ("return", "steps")} == {
                name: info["episode_stats"][name] for name in ("return", "steps")
            }
            break
    assert over


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

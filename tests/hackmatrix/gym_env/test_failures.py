"""An engine that fails under an environment: an error, or with ``restart`` a truncated episode that says so."""

from collections.abc import Callable

import gymnasium as gym
import numpy as np
import pytest

from hackmatrix.gym_env import HackMatrixEnv, HackMatrixVectorEnv
from hackmatrix.sb3.vec_env import HackMatrixVecEnv
from hackmatrix.swift_env import SwiftEngineError
from tests.hackmatrix.swift_env.conftest import unreliable as unreliable

SAID = "ended with status 7; it said: something broke"


def test_without_restart_the_error_comes_through(unreliable: Callable[[str], None]) -> None:
    unreliable("die")
    env = gym.make("HackMatrix-v0")
    _, info = env.reset(seed=0)
    for _ in range(2):
        _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
    with pytest.raises(SwiftEngineError, match=SAID):
        env.step(int(info["action_mask"].argmax()))
    env.close()


def test_one_game_is_truncated_says_why_and_goes_on(unreliable: Callable[[str], None]) -> None:
    unreliable("die")
    env = HackMatrixEnv(restart=True)
    env.reset(seed=0)
    for _ in range(3):
        _, reward, terminated, truncated, info = env.step(int(env.action_masks().argmax()))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert SAID in info["engine_restarted"]
    assert info["episode_stats"]["steps"] == 2
    _, info = env.reset()
    assert "engine_restarted" not in info
    for _ in range(5):
        _, _, _, truncated, info = env.step(int(env.action_masks().argmax()))
        assert not truncated
    env.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_all_games_of_a_vector_are_truncated_and_go_on(unreliable: Callable[[str], None], mode: str) -> None:
    unreliable("hang")
    env = HackMatrixVectorEnv(3, restart=True, deadline=3, autoreset_mode=mode)
    env.reset(seed=0)
    for _ in range(3):
        _, rewards, terminated, truncated, infos = env.step(env.action_masks().argmax(axis=1))
    assert not rewards.any()
    assert not terminated.any()
    assert truncated.all()
    said = infos["final_info"] if mode == "SameStep" else infos
    assert all("did not answer within 3 s" in reason for reason in said["engine_restarted"])
    for _ in range(5):
        _, _, _, truncated, infos = env.step(env.action_masks().argmax(axis=1))
        assert not truncated.any()
        assert "engine_restarted" not in infos
    env.close()


def test_stable_baselines_sees_truncated_episodes(unreliable: Callable[[str], None]) -> None:
    unreliable("garbage")
    env = HackMatrixVecEnv(2, restart=True, seed=0)
    env.reset()
    for _ in range(3):
        _, _, dones, infos = env.step(env.action_masks().argmax(axis=1))
    assert dones.all()
    assert all(info["TimeLimit.truncated"] and "engine_restarted" in info for info in infos)
    _, _, dones, _ = env.step(np.asarray(env.action_masks().argmax(axis=1)))
    assert not dones.any()
    env.close()

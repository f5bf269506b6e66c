"""``HackMatrix-v0`` and its environments of many games: what is this game's own, on its Dict observation."""

import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import psutil
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from stable_baselines3.common import env_checker as sb3_env_checker
from stable_baselines3.common.vec_env import DummyVecEnv

from hackmatrix import rules  # which registers HackMatrix-v0
from hackmatrix.gym_env import HackMatrixEnv, HackMatrixVectorEnv
from hackmatrix.gym_wrappers import FlatObservation
from hackmatrix.rules import ACTIONS, COMPONENTS
from hackmatrix.sb3.vec_env import HackMatrixVecEnv
from hackmatrix.swift_env import SwiftEngine
from tests.played import choose
from tests.rlworldkit.side_by_side import played_alike, played_alike_in_sb3

pytestmark = pytest.mark.usefixtures("swift_built")
GAMES, STEPS = 5, 100
Env = gym.Env[Any, Any]


@pytest.fixture
def env() -> Iterator[Env]:
    made = gym.make("HackMatrix-v0")
    yield made
    made.close()


def test_gymnasium_and_stable_baselines_find_no_fault(env: Env, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sb3_env_checker.check_env(env.unwrapped)
    assert all("image" in str(warning.message) for warning in said), "the grid is no image"


def test_spaces_and_the_flat_vector_in_the_order_O(env: Env) -> None:
    parts, _ = env.reset(seed=0)
    shapes = {"player": ((10,), np.float32), "programs": ((23,), np.int8), "grid": ((6, 6, 42), np.float32)}
    assert {name: (part.shape, part.dtype) for name, part in parts.items()} == shapes
    assert env.action_space == gym.spaces.Discrete(28)
    flat: Any = FlatObservation(gym.make("HackMatrix-v0", max_episode_steps=7))
    again = gym.make(flat.spec)
    assert (str(again), again.spec) == (str(flat), flat.spec)
    for made in (flat, again):
        observation, _ = made.reset(seed=0)
        assert made.observation_space.contains(observation)
        assert observation.shape == (rules.OBSERVATION_SIZE,)
        np.testing.assert_array_equal(observation[:10], parts["player"])
        np.testing.assert_array_equal(observation[rules.PROGRAM_PART], parts["programs"])
        np.testing.assert_array_equal(observation[rules.GRID_PART], parts["grid"].ravel())
        made.close()


def test_a_seed_is_the_engines_seed_R1_and_without_one_the_next_game_follows_R6(env: Env) -> None:
    observation, info = env.reset(seed=41)
    assert info["seed"] == 41
    with SwiftEngine(1) as engine:
        seen = engine.reset(np.array([41], np.uint64), np.arange(1))
        np.testing.assert_array_equal(FlatObservation(env).observation(observation), seen[0])
        assert [env.get_wrapper_attr("get_state")()] == engine.get_state(np.arange(1))
        _, info = env.reset()
        engine.restart(np.arange(1))
        assert engine.seeds()[0] == info["seed"] % 2**64


def test_observations_rewards_and_statistics_are_those_of_the_episode(env: Env) -> None:
    rng = np.random.default_rng(0)
    for _ in range(8):
        _, info = env.reset()
        actions, rewards, stages, totals = [], 0.0, [info["stage"]], dict.fromkeys(COMPONENTS, 0.0)
        terminated = False
        while not terminated:
            assert "episode_stats" not in info
            actions.append(int(choose(info["action_mask"][None], rng, wrong=0.01)[0]))
            seen, reward, terminated, _, info = env.step(actions[-1])
            assert env.observation_space.contains(seen)
            assert tuple(info["reward_breakdown"]) == COMPONENTS
            thousandths = sum(round(1000 * value) for value in info["reward_breakdown"].values())
            assert reward == float(np.float32(thousandths) / np.float32(1000))
            rewards += float(reward)
            stages.append(info["stage"])
            totals = {name: totals[name] + value for name, value in info["reward_breakdown"].items()}
        stats = info["episode_stats"]
        assert (stats["steps"], stats["highest_stage"]) == (len(actions), max(stages))
        assert stats["return"] == pytest.approx(rewards, abs=1e-4)
        assert stats["reward_breakdown"] == pytest.approx(totals)
        assert stats["programs_used"] == {name: actions.count(5 + i) for i, name in enumerate(ACTIONS[5:])}
        moves, siphons = sum(action < 4 for action in actions), actions.count(4)
        assert stats["actions"] == {"move": moves, "siphon": siphons, "program": len(actions) - moves - siphons}


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_many_games_are_as_each_alone(mode: AutoresetMode) -> None:
    native = HackMatrixVectorEnv(GAMES, autoreset_mode=mode)
    alone = SyncVectorEnv([HackMatrixEnv] * GAMES, autoreset_mode=mode)
    assert sum((step[2] | step[3]).sum() for step in played_alike(native, alone, STEPS, wrong=0.02)) > 15


def test_many_games_in_stable_baselines_are_as_each_alone() -> None:
    native, alone = HackMatrixVecEnv(GAMES), DummyVecEnv([HackMatrixEnv] * GAMES)
    assert (native.observation_space, native.action_space) == (alone.observation_space, alone.action_space)
    assert sum(dones.sum() for _, _, dones, _ in played_alike_in_sb3(native, alone, STEPS, wrong=0.02)) > 15


@pytest.mark.long
def test_a_million_steps_and_ten_thousand_resets_leave_nothing_behind_in_client_and_engine(env: Env) -> None:
    steps, mebibyte = 1_000_000, 2**20
    rng = np.random.default_rng(0)
    client = psutil.Process()
    (engine,) = (child for child in client.children() if child.name() == "HackMatrix")
    _, info = env.reset(seed=0)
    used: list[int] = []
    resets = 0
    for step in range(steps):
        if step in (steps // 10, steps - 1):
            used.append(client.memory_info().rss + engine.memory_info().rss)
        valid = info["action_mask"].nonzero()[0]
        _, _, terminated, _, info = env.step(valid[int(rng.random() * len(valid))])
        if terminated:
            resets += 1
            _, info = env.reset()
    assert resets >= 10_000
    print(f"{(used[1] - used[0]) / mebibyte:.2f} MiB more after {steps:,} steps and {resets:,} resets")
    assert used[1] - used[0] < 4 * mebibyte

"""``HackMatrix-v0``, one game: Gymnasium's contract and this game's own."""

import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common import env_checker as sb3_env_checker

from hackmatrix import rules  # which registers HackMatrix-v0
from hackmatrix.gym_env import HackMatrixEnv
from hackmatrix.gym_wrappers import FlatObservation
from hackmatrix.rules import ACTIONS, COMPONENTS
from hackmatrix.swift_env import SwiftGames
from rlparity.errors import UsageError
from tests.played import choose

Env = gym.Env[Any, Any]


@pytest.fixture
def env(swift_built: None) -> Iterator[Env]:
    made = gym.make("HackMatrix-v0")
    yield made
    made.close()


def test_gymnasium_and_stable_baselines_find_no_fault(swift_built: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gym.make("HackMatrix-v0").unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sb3_env_checker.check_env(env)
    assert all("image" in str(warning.message) for warning in said), "the grid is no image"


def test_every_environment_draws_from_spaces_of_its_own(swift_built: None) -> None:
    one, other = HackMatrixEnv(), HackMatrixEnv()
    one.action_space.seed(5)
    other.action_space.seed(5)
    drawn = [one.action_space.sample() for _ in range(20)]
    assert drawn == [other.action_space.sample() for _ in range(20)]


def test_spaces_and_the_flat_vector_in_the_order_O(env: Env) -> None:
    parts, _ = env.reset(seed=0)
    shapes = {"player": ((10,), np.float32), "programs": ((23,), np.int8), "grid": ((6, 6, 42), np.float32)}
    assert {name: (part.shape, part.dtype) for name, part in parts.items()} == shapes
    assert env.action_space == gym.spaces.Discrete(28)
    flat = FlatObservation(env)
    observation, _ = flat.reset(seed=0)
    assert flat.observation_space.contains(observation)
    assert observation.shape == (rules.OBSERVATION_SIZE,)
    np.testing.assert_array_equal(observation[:10], parts["player"])
    np.testing.assert_array_equal(observation[rules.PROGRAM_PART], parts["programs"])
    np.testing.assert_array_equal(observation[rules.GRID_PART], parts["grid"].ravel())


def test_a_seed_is_the_engines_seed_R1_and_without_one_the_next_game_follows_R6(env: Env) -> None:
    observation, info = env.reset(seed=41)
    assert info["seed"] == 41
    with SwiftGames(np.array([41], np.uint64)) as games:
        assert games.opened.observation is not None
        np.testing.assert_array_equal(FlatObservation(env).observation(observation), games.opened.observation[0])
        assert env.get_wrapper_attr("get_state")() == games.get_states()[0]
        _, info = env.reset()
        assert games.restart().seeds[0] == info["seed"] % 2**64


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_a_seed_out_of_range_is_one_sentence(env: Env, seed: int) -> None:
    with pytest.raises(UsageError, match=f"a seed is a whole number from 0 to .*, not {seed}"):
        env.unwrapped.reset(seed=seed)


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


def test_every_render_mode_shows_the_board_that_is_played(swift_built: None) -> None:
    text, picture = HackMatrixEnv("ansi"), HackMatrixEnv("rgb_array")
    text.reset(seed=0)
    shown = text.render()
    assert "@" in shown
    assert "EXIT" in shown
    _, info = picture.reset(seed=0)
    before = picture.render()
    picture.step(int(info["action_mask"].argmax()))
    after = picture.render()
    assert (before.shape, before.dtype) == (after.shape, np.uint8)
    assert (before != after).any()


def test_a_mode_and_an_engine_that_do_not_exist_are_one_sentence() -> None:
    with pytest.raises(UsageError, match="no render mode 'teletext': choose one of ansi, rgb_array, human"):
        HackMatrixEnv("teletext")
    with pytest.raises(UsageError, match="no engine 'torch': choose swift or jax"):
        HackMatrixEnv(engine="torch")

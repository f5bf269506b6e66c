"""``HackMatrix-v0``, one game: Gymnasium's contract and this game's own."""

import subprocess
import sys
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common import env_checker as sb3_env_checker

from hackmatrix import rules
from hackmatrix.gym_env import HackMatrixEnv
from hackmatrix.gym_wrappers import FlatObservation
from hackmatrix.rules import ACTIONS, COMPONENTS
from hackmatrix.swift_env import SwiftGames
from parity.errors import UsageError
from tests.played import choose

Env = gym.Env[Any, Any]


def play(env: Env, steps: int, seed: int = 0, wrong: float = 0.0) -> list[Any]:
    """Everything an environment says in ``steps`` random steps, resets included."""
    rng = np.random.default_rng(seed)
    said: list[Any] = [env.reset(seed=seed)]
    for _ in range(steps):
        mask = said[-1][-1]["action_mask"]
        said.append(env.step(choose(mask[None], rng, wrong)[0]))
        if said[-1][2] or said[-1][3]:
            said.append(env.reset())
    return said


class TestContract:
    """What every Gymnasium environment must be."""

    def test_gymnasium_finds_no_fault(self, swift_built: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(gym.make("HackMatrix-v0").unwrapped)

    def test_stable_baselines_says_only_that_the_grid_is_no_image(self, env: Env) -> None:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            sb3_env_checker.check_env(env)
        assert all("image" in str(warning.message) for warning in said)

    def test_it_is_registered_by_the_import_alone(self, swift_built: None) -> None:
        program = "import gymnasium as gym, hackmatrix; print(gym.make('HackMatrix-v0').reset(seed=3)[1]['seed'])"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "3"

    def test_observations_are_in_the_space(self, env: Env) -> None:
        for said in play(env, 300):
            assert env.observation_space.contains(said[0])

    def test_every_environment_draws_from_spaces_of_its_own(self, swift_built: None) -> None:
        one, other = HackMatrixEnv(), HackMatrixEnv()
        drawn: list[list[int]] = []
        for disturbing in (False, True):
            one.action_space.seed(5)
            drawn.append([])
            for _ in range(20):
                if disturbing:
                    other.action_space.sample()
                drawn[-1].append(int(one.action_space.sample()))
        assert drawn[0] == drawn[1]

    def test_spaces(self, env: Env) -> None:
        observation, _ = env.reset(seed=0)
        shapes = {name: (part.shape, part.dtype) for name, part in observation.items()}
        assert shapes == {
            "player": ((10,), np.float32),
            "programs": ((rules.NUM_PROGRAMS,), np.int8),
            "grid": (rules.GRID_SHAPE, np.float32),
        }
        assert env.action_space == gym.spaces.Discrete(rules.NUM_ACTIONS)


class TestStart:
    """Seeds and states."""

    def test_a_seed_is_the_engines_seed_R1(self, env: Env) -> None:
        observation, info = env.reset(seed=41)
        with SwiftGames(np.array([41], np.uint64)) as games:
            assert games.opened.observation is not None
            flat = FlatObservation(env).observation(observation)
            np.testing.assert_array_equal(flat, games.opened.observation[0])
            assert env.unwrapped.get_state() == games.get_states()[0]  # type: ignore[attr-defined]
        assert info["seed"] == 41

    def test_without_a_seed_the_next_game_follows_R6(self, env: Env) -> None:
        env.reset(seed=9)
        _, info = env.reset()
        with SwiftGames(np.array([9], np.uint64)) as games:
            assert games.restart().seeds[0] == info["seed"] % 2**64

    def test_a_state_as_a_start(self, env: Env) -> None:
        play(env, 11, seed=2)
        state = env.unwrapped.get_state()  # type: ignore[attr-defined]
        env.reset(seed=1)
        env.reset(options={"state": state})
        assert env.unwrapped.get_state() == state  # type: ignore[attr-defined]

    @pytest.mark.parametrize("seed", [-1, 1 << 64])
    def test_a_seed_out_of_range_is_one_sentence(self, env: Env, seed: int) -> None:
        with pytest.raises(UsageError, match=f"a seed is a whole number from 0 to .*, not {seed}"):
            env.unwrapped.reset(seed=seed)


class TestInfo:
    """What an info says."""

    def test_the_mask_is_usable_and_no_call(self, env: Env, monkeypatch: pytest.MonkeyPatch) -> None:
        _, info = env.reset(seed=4)
        calls: list[object] = []
        monkeypatch.setattr("hackmatrix.swift_env.process.SwiftProcess.send", lambda *call: calls.append(call))
        masks = env.get_wrapper_attr("action_masks")()
        assert (masks.dtype, info["action_mask"].dtype) == (np.bool_, np.int8)
        np.testing.assert_array_equal(masks, info["action_mask"] == 1)
        assert masks[env.action_space.sample(info["action_mask"])]
        assert not calls

    def test_the_breakdown_sums_to_the_reward_W(self, env: Env) -> None:
        steps = [said for said in play(env, 400, wrong=0.05) if len(said) == 5]
        for _, reward, _, _, info in steps:
            assert tuple(info["reward_breakdown"]) == COMPONENTS
            thousandths = sum(round(1000 * value) for value in info["reward_breakdown"].values())
            assert reward == float(np.float32(thousandths) / np.float32(1000))

    def test_an_invalid_action_ends_the_episode_C1(self, env: Env) -> None:
        _, info = env.reset(seed=0)
        _, reward, terminated, truncated, info = env.step(int(np.argmin(info["action_mask"])))
        assert (reward, terminated, truncated, info["invalid_action"]) == (0.0, True, False, True)

    def test_the_statistics_are_those_of_the_episode(self, env: Env) -> None:
        rng = np.random.default_rng(0)
        for _ in range(20):
            _, info = env.reset()
            actions, rewards, stages, totals = [], 0.0, [info["stage"]], dict.fromkeys(COMPONENTS, 0.0)
            terminated = False
            while not terminated:
                assert "episode_stats" not in info
                actions.append(int(choose(info["action_mask"][None], rng)[0]))
                _, reward, terminated, _, info = env.step(actions[-1])
                rewards += float(reward)
                stages.append(info["stage"])
                totals = {name: totals[name] + value for name, value in info["reward_breakdown"].items()}
            stats = info["episode_stats"]
            assert stats["steps"] == len(actions)
            assert stats["return"] == pytest.approx(rewards, abs=1e-4)
            assert stats["reward_breakdown"] == pytest.approx(totals)
            assert stats["highest_stage"] == max(stages)
            assert stats["programs_used"] == {name: actions.count(5 + i) for i, name in enumerate(ACTIONS[5:])}
            kinds = stats["actions"]
            assert kinds["siphon"] == actions.count(4)
            assert kinds["move"] == sum(action < 4 for action in actions)
            assert kinds["program"] == sum(action > 4 for action in actions)


class TestWrappers:
    """Our own."""

    def test_the_flat_vector_is_in_the_order_O(self, env: Env) -> None:
        flat = FlatObservation(env)
        observation, _ = flat.reset(seed=0)
        assert flat.observation_space.contains(observation)
        parts, _ = env.reset(seed=0)
        assert observation.shape == (rules.OBSERVATION_SIZE,)
        np.testing.assert_array_equal(observation[:10], parts["player"])
        np.testing.assert_array_equal(observation[rules.PROGRAM_PART], parts["programs"])
        np.testing.assert_array_equal(observation[rules.GRID_PART], parts["grid"].ravel())


class TestRender:
    """Every render mode shows the board that is played."""

    def test_text(self, swift_built: None) -> None:
        env = HackMatrixEnv("ansi")
        env.reset(seed=0)
        text = env.render()
        assert "@" in text
        assert "EXIT" in text

    def test_picture(self, swift_built: None) -> None:
        env = HackMatrixEnv("rgb_array")
        _, info = env.reset(seed=0)
        before = env.render()
        env.step(int(info["action_mask"].argmax()))
        after = env.render()
        assert (before.shape, before.dtype) == (after.shape, np.uint8)
        assert (before != after).any()

    def test_a_mode_that_does_not_exist_is_one_sentence(self) -> None:
        with pytest.raises(UsageError, match="no render mode 'teletext': choose one of ansi, rgb_array, human"):
            HackMatrixEnv("teletext")

    def test_an_engine_that_does_not_exist_is_one_sentence(self) -> None:
        with pytest.raises(UsageError, match="no engine 'torch': choose swift or jax"):
            HackMatrixEnv(engine="torch")

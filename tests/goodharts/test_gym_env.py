"""``Goodharts-v0`` and the environments of Stable-Baselines3: their contracts, this game's own, and ``train-sb3``."""

import json
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from command_line import run
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common import env_checker as sb3_env_checker

import rlparity
from goodharts.cli.main import main
from goodharts.gym_env import GoodhartsEnv, GoodhartsVectorEnv
from goodharts.rules import ACTIONS, COMPONENTS, OBSERVATION_SHAPE
from goodharts.sb3_vec_env import GoodhartsVecEnv
from goodharts.score import metrics
from rlparity.errors import EngineError, UsageError

Env = gym.Env[Any, Any]
OPPOSITES = pytest.mark.parametrize("mode", ["ground_truth_handhold", "proxy"])
"""Modes that share nothing of what is seen and paid."""


def make(mode: str = "ground_truth", **options: Any) -> Env:  # noqa: ANN401 - gym.make's own
    import goodharts  # noqa: F401 - registers Goodharts-v0

    return gym.make("Goodharts-v0", mode=mode, **options)


@OPPOSITES
def test_gymnasium_and_stable_baselines_find_no_fault(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(mode).unwrapped)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sb3_env_checker.check_env(GoodhartsEnv(mode=mode))
    assert all("image" in str(warning.message) for warning in said), "the view is no picture"


@pytest.mark.parametrize("seed", [0, 41, 2**32 + 7, 2**64 - 1])
def test_a_seed_is_game_0_of_a_run_with_it_G10(seed: int) -> None:
    env, engine = GoodhartsEnv(), rlparity.open_engine("goodharts-ground_truth", "torch")
    observation, info = env.reset(seed=seed)
    np.testing.assert_array_equal(observation, engine.reset(seed))
    assert env.get_state() == engine.get_state()
    low, high = env.get_state()["key"]
    assert info["seed"] % 2**64 == low + (high << 32)


def test_a_mode_that_does_not_exist_is_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"no mode 'happy': choose one of ground_truth, .*proxy"):
        GoodhartsEnv(mode="happy")


def test_without_torch_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "goodharts.torch_env.adapter", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    said = r"^The torch engine needs torch: run `.* -m pip install 'rlworldkit\[sb3\]'`"
    with pytest.raises(EngineError, match=said):
        GoodhartsEnv()


@OPPOSITES
def test_an_episode_tells_and_sums_up_what_was_eaten_and_earned_G5_G12(mode: str) -> None:
    env = make(mode, max_episode_steps=300, prices={"food": 0})  # what is eaten is counted, not what is paid for it
    assert env.observation_space == gym.spaces.Box(0.0, 1.0, OBSERVATION_SHAPE, np.float32)
    assert env.action_space == gym.spaces.Discrete(8)
    rng, found = np.random.default_rng(0), Counter[str]()
    for seed in range(3):
        _, info = env.reset(seed=seed)
        eaten = Counter[str]()
        while "episode_stats" not in info:
            energy = info["energy"]
            _, reward, terminated, _, info = env.step(int(rng.integers(8)))
            assert tuple(info["reward_breakdown"]) == COMPONENTS
            assert type(reward) is float
            assert reward == pytest.approx(sum(info["reward_breakdown"].values()), abs=1e-6)
            assert info.get("death", False) == terminated
            food, poison = info.get("ate_food", False), info.get("ate_poison", False)
            assert info["energy"] == energy + (0 if mode == "proxy" else 1000 * food - 2000 * poison - 10)
            eaten.update(food=food, poison=poison)
        stats = info["episode_stats"]
        assert stats["steps"] == info["steps"] == sum(stats["actions"].values())
        assert tuple(stats["actions"]) == ACTIONS
        assert (stats["food"], stats["poison"]) == (eaten["food"], eaten["poison"])
        found += eaten
    assert min(found["food"], found["poison"]) > 0


def test_make_vec_takes_the_native_one() -> None:
    made = gym.make_vec("Goodharts-v0", num_envs=3, vectorization_mode="vector_entry_point", mode="proxy")
    assert isinstance(made.unwrapped, GoodhartsVectorEnv)


RUN = (
    "--timesteps 128 --num-envs 4 --n-steps 32 --batch-size 64 --n-epochs 1 --save-freq 64 --no-wandb "
    "--eval-freq 1000000 --eval-episodes 1"
)


def test_the_documented_class_plays_the_mode_that_it_is_given_to_the_limit() -> None:
    games = GoodhartsVecEnv(3, mode="proxy", max_episode_steps=9)
    games.seed(21)
    np.testing.assert_array_equal(games.reset()[1], GoodhartsEnv(mode="proxy").reset(seed=22)[0])
    assert [games.step(np.zeros(3, int))[2].all() for _ in range(9)] == [False] * 8 + [True]


def test_what_episodes_ate_is_logged_and_their_efficiency_where_they_ate() -> None:
    some = [{"food": 3, "poison": 1}, {"food": 1, "poison": 0}]
    assert metrics(some) == {"eaten/food": 2.0, "eaten/poison": 0.5, "eaten/efficiency": 0.8}
    assert metrics([{"food": 0, "poison": 0}]) == {"eaten/food": 0.0, "eaten/poison": 0.0}


def test_maskable_ppo_trains_a_mode_and_a_resumed_run_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    assert run(main, "train-sb3", "--mode", "proxy", "--run-name", "short", *RUN.split()).code == 0
    folder = tmp_path / "models" / "short"
    assert json.loads((folder / "config.json").read_text())["mode"] == "proxy"
    ran = run(main, "train-sb3", "--resume", folder / "final_model.zip", "--timesteps", "256", "--no-wandb")
    assert (ran.code, "Done after 256 steps" in ran.out) == (0, True)
    config = json.loads((folder / "config.json").read_text())
    assert (config["mode"], config["timesteps"]) == ("proxy", 256)
    for agent in (folder / "final_model.zip", folder):
        ran = run(main, "evaluate", "--model", agent, "--games", "2", "--steps", "9")
        assert (ran.code, "proxy: 2 games of 9 steps, drawn actions" in ran.out) == (0, True)
    wrong = run(main, "evaluate", "--model", folder / "final_model.zip", "--mode", "ground_truth")
    assert "is of mode proxy, not of ground_truth: leave out --mode" in wrong.refusal()

"""Goodharts in Stable-Baselines3: the vector environment, PPO and MaskablePPO, and ``goodharts train-sb3``."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from stable_baselines3.common.env_checker import check_env

from goodharts.cli.main import main
from goodharts.gym_env import GoodhartsEnv
from goodharts.rules import MODES
from goodharts.sb3_vec_env import GoodhartsVecEnv
from goodharts.score import metrics

RUN = (
    "--timesteps 128 --num-envs 4 --n-steps 32 --batch-size 64 --n-epochs 1 --save-freq 64 --no-wandb "
    "--eval-freq 1000000 --eval-episodes 1"
)


@pytest.mark.parametrize("mode", MODES)
def test_stable_baselines_says_only_that_the_view_is_no_picture(mode: str) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(GoodhartsEnv(mode=mode))
    assert all("image" in str(warning.message) for warning in said)


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

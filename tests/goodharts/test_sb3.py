"""Goodharts in Stable-Baselines3: the vector environment, PPO and MaskablePPO, and ``goodharts train-sb3``."""

import json
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import DummyVecEnv

from goodharts.cli.main import main
from goodharts.env_spec import episode_metrics
from goodharts.gym_env import GoodhartsEnv
from goodharts.rules import MODES
from goodharts.sb3_vec_env import GoodhartsVecEnv
from tests.played import assert_same

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


def test_many_games_equal_single_ones() -> None:
    mode, limit = "proxy", 9
    native = GoodhartsVecEnv(3, mode=mode, max_episode_steps=limit)
    own: Any = DummyVecEnv([partial(GoodhartsEnv, mode=mode, max_episode_steps=limit)] * 3)
    rng = np.random.default_rng(0)
    native.seed(21)
    own.seed(21)
    assert_same(native.reset(), own.reset())
    for _ in range(20):
        actions = rng.integers(8, size=3)
        (seen, rewards, dones, infos), heard = native.step(actions), own.step(actions)
        np.testing.assert_array_equal(seen, heard[0])
        np.testing.assert_array_equal(rewards, heard[1].astype(np.float32))
        np.testing.assert_array_equal(dones, heard[2])
        for info, other in zip(infos, heard[3], strict=True):
            info.pop("episode", None)
            assert_same(info, other)
        assert_same(native.reset_infos, own.reset_infos)


def test_what_episodes_ate_is_logged_and_their_efficiency_where_they_ate() -> None:
    some = [{"food": 3, "poison": 1}, {"food": 1, "poison": 0}]
    assert episode_metrics(some) == {"eaten/food": 2.0, "eaten/poison": 0.5, "eaten/efficiency": 0.8}
    assert episode_metrics([{"food": 0, "poison": 0}]) == {"eaten/food": 0.0, "eaten/poison": 0.0}


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

"""MaskablePPO on the Swift engine: the files of a run, resuming it, and learning."""

import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks

from hackmatrix.rules import ACTIONS, COMPONENTS
from hackmatrix.sb3.vec_env import HackMatrixVecEnv
from hackmatrix.training_config import MaskablePPOConfig
from hackmatrix.world import WORLD
from rlparity.errors import ParityError, UsageError
from rlworldkit.agents.reader import agent_files
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.runs.sinks import read_csv
from rlworldkit.sb3 import callbacks
from rlworldkit.sb3.callbacks import EpisodeMetrics
from rlworldkit.sb3.model_file import timesteps_of
from rlworldkit.sb3.training import load_model
from tests.hackmatrix.sb3.conftest import SHORT, run


def test_the_documented_settings() -> None:
    assert MaskablePPOConfig().ppo() == {
        "learning_rate": 3e-4,
        "n_steps": 2048,
        "batch_size": 64,
        "n_epochs": 10,
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "clip_range": 0.2,
        "ent_coef": 0.1,
        "seed": 0,
    }


@pytest.fixture(autouse=True)
def no_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run but the shared one draws its curve, which takes as long as training."""
    monkeypatch.setattr("rlworldkit.runs.curve.draw_curve", lambda *_: None)


class TestWhatARunLeaves:
    def test_files(self, finished: Path) -> None:
        names = {path.name for path in finished.iterdir()}
        checkpoints = {f"checkpoint_{steps}_steps.zip" for steps in (180, 360)}  # when they are due, and no more
        assert {name for name in names if name.endswith(".zip")} == checkpoints | {"best_model.zip", "final_model.zip"}
        assert names >= {"metrics.csv", "metrics.jsonl"}
        assert names >= {"tensorboard", "evaluations.npz", "learning_curve.png", "config.json"}
        assert not any(name.startswith(".") for name in names)
        with np.load(finished / "evaluations.npz") as kept:
            assert kept["results"].shape == (2, 4)
            assert kept["timesteps"].tolist() == [240, 480]

    def test_metrics(self, finished: Path) -> None:
        first, *_, last = table = read_csv(finished / "metrics.csv")
        assert all(f"programs/{name}" in last for name in ACTIONS[5:])
        assert sum(last[f"actions/{kind}_frac"] for kind in ("move", "siphon", "program")) == pytest.approx(1)
        assert last["stats/highest_stage"] >= 1
        assert last["episode_reward/step_penalty"] < 0
        # later, SB3's mean reaches back over several rollouts
        total = sum(first[f"episode_reward/{name}"] for name in COMPONENTS)
        assert total == pytest.approx(first["rollout/ep_rew_mean"], abs=1e-4)
        entropies = [row["train/entropy"] for row in table if not np.isnan(row["train/entropy"])]
        assert entropies
        assert all(0 < entropy < np.log(len(ACTIONS)) for entropy in entropies)

    def test_evaluations_show_how_far_they_are_and_play_the_same_games_each_time(
        self, swift_built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # a policy that hardly changes plays the same games alike
        said = io.StringIO()
        monkeypatch.setattr(callbacks, "_LINE_SECONDS", 0.0)
        run(tmp_path / "still", console=Console(file=said), timesteps=256, eval_freq=100, learning_rate=1e-12)
        assert "evaluating: 0 of 4 games ended, the longest is at step 1\n" in said.getvalue()
        assert "evaluating: 3 of 4 games ended" in said.getvalue()
        with np.load(tmp_path / "still" / "evaluations.npz") as kept:
            first, second = kept["results"].tolist()
        assert first == second
        assert len(set(first)) > 1


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


class TestGoingOn:
    def test_steps_and_schedules_go_on(self, finished: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        begun: list[int | None] = []
        seed = WorldVecEnv.seed

        def noted(env: WorldVecEnv, first: int | None = None) -> Any:  # noqa: ANN401 - as the method has it
            begun.append(first)
            return seed(env, first)

        monkeypatch.setattr(WorldVecEnv, "seed", noted)
        before = [row["rollout/ep_rew_mean"] for row in read_csv(finished / "metrics.csv")]
        with np.load(finished / "evaluations.npz") as kept:  # the best there ever was, which nothing surpasses
            np.savez(folder / "evaluations.npz", **{**kept, "results": kept["results"] + 1000})
        assert run(folder, resume=folder / "final_model.zip", timesteps=768).progress.timesteps == 768
        assert SHORT.seed + 512 in begun, "it plays other games than those it has seen"
        both = read_csv(folder / "metrics.csv")
        assert [row["timesteps"] for row in both] == list(range(128, 769, 128))
        assert [row["rollout/ep_rew_mean"] for row in both[:4]] == before
        seconds = [row["seconds"] for row in both]
        assert seconds == sorted(seconds)
        # a third of the run is left: the rate begins at a third of what it was, not anew
        assert np.nanmax([row["train/learning_rate"] for row in both[4:]]) <= 0.34e-3
        with np.load(folder / "evaluations.npz") as kept:
            assert kept["timesteps"].tolist()[:2] == [240, 480]
            assert len(kept["timesteps"]) == 3
        is_kept = (folder / "best_model.zip").read_bytes() == (finished / "best_model.zip").read_bytes()
        assert is_kept, "a worse model took the place of the best"

    def test_evaluations_go_on_from_an_earlier_model_with_any_number_of_episodes(
        self, finished: Path, folder: Path
    ) -> None:
        model = folder / "checkpoint_360_steps.zip"
        run(folder, resume=model, timesteps=616, eval_freq=100, eval_episodes=6)
        with np.load(folder / "evaluations.npz") as found, np.load(finished / "evaluations.npz") as before:
            assert found["timesteps"].tolist() == [240, 460, 560]
            for name in ("results", "ep_lengths"):
                assert found[name][0, :4].tolist() == before[name][0].tolist()
                assert (~np.isnan(found[name])).sum(axis=1).tolist() == [4, 6, 6]
        old = folder / "abandoned-1"
        assert (old / "evaluations.npz").read_bytes() == (finished / "evaluations.npz").read_bytes()
        moved = {path.name for path in finished.glob("*.zip") if timesteps_of(path) > 360}
        assert {path.name for path in old.glob("*.zip")} == moved >= {"final_model.zip"}
        assert [row["timesteps"] for row in read_csv(folder / "metrics.csv")] == [128, 256, 488, 616]
        assert [row["timesteps"] for row in read_csv(old / "metrics.csv")] == [128, 256, 384, 512]
        assert timesteps_of(agent_files(WORLD, folder)[0]) == 616
        run(folder, resume=folder / "final_model.zip", timesteps=744, eval_freq=100, eval_episodes=2)
        with np.load(folder / "evaluations.npz") as found:
            assert found["timesteps"].tolist() == [240, 460, 560, 716]
            assert (~np.isnan(found["results"])).sum(axis=1).tolist() == [4, 6, 6, 2]

    def test_changes_hold_and_are_recorded_and_all_else_is_the_model_s_also_for_stable_baselines(
        self, finished: Path, tmp_path: Path
    ) -> None:
        """What Stable-Baselines3 unpickles goes on as what is read without: the same metrics and weights."""
        changes, found = {"learning_rate": 1e-5, "n_steps": 16, "seed": 77}, []
        for trust in (False, True):
            folder = Path(shutil.copytree(finished, tmp_path / f"trust-{trust}"))
            last, settings = folder / "final_model.zip", {"timesteps": 700, "eval_freq": 10**6, "gamma": 0.5}
            run(folder, resume=last, changes=changes, trust=trust, **settings)  # type: ignore[arg-type]
            timed = ("seconds", "steps_per_second", "time/")
            rows = [
                {name: value for name, value in row.items() if not name.startswith(timed)}
                for row in read_csv(folder / "metrics.csv")
            ]
            config = json.loads((folder / "config.json").read_text())
            held = {**changes, "gamma": 0.99, "batch_size": 64}
            assert {name: config[name] for name in held} == held
            model = load_model(last, WORLD, "cpu")
            # no more than was asked for, in whole rollouts
            assert (model.num_timesteps, model.learning_rate, model.n_steps, model.gamma) == (640, 1e-5, 16, 0.99)
            assert rows[-1]["train/learning_rate"] == 1e-5
            found.append((rows, model.policy.state_dict()))
        (one, weights), (other, others) = found
        assert one == other
        assert all(torch.equal(weights[name], others[name]) for name in weights)


def test_a_device_that_is_not_there_and_too_few_steps_are_one_sentence(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="The device 'cuda:7' cannot be used"):
        run(tmp_path, device="cuda:7")
    for settings in ({"num_envs": 1, "n_steps": 1}, {"batch_size": 1}):
        with pytest.raises(UsageError, match="need two steps at least"):
            run(tmp_path, None, **settings)  # type: ignore[arg-type]
    said = "must cover the 512 steps that there were and at least one rollout of 4 x 32 = 128 steps, got 639"
    with pytest.raises(UsageError, match=said):
        run(tmp_path, finished / "final_model.zip", timesteps=639)


def test_a_run_that_diverges_is_one_sentence(swift_built: None, tmp_path: Path) -> None:
    with pytest.raises(ParityError, match=r"Training diverged.*lower --learning-rate"):
        run(tmp_path, learning_rate=lambda left: 1e30)


@pytest.mark.long
def test_it_learns(swift_built: None, tmp_path: Path) -> None:
    """20,000 steps are worth more than two standard deviations of what luck could do."""
    rates = {"learning_rate": 3e-3, "batch_size": 512, "n_epochs": 4, "ent_coef": 0.01}
    run(tmp_path, timesteps=20_000, num_envs=32, save_freq=1_000_000, eval_freq=1_000_000, **rates)  # type: ignore[arg-type]
    trained = returns(load_model(tmp_path / "final_model.zip", WORLD, "cpu"))
    untrained = returns(None)
    luck = np.hypot(trained.std(), untrained.std()) / np.sqrt(len(trained))
    assert trained.mean() - untrained.mean() > 2 * luck


def returns(model: MaskablePPO | None, games: int = 200) -> np.ndarray:
    """Returns of the same games, played by a model's likeliest actions, or by uniform valid ones."""
    env = HackMatrixVecEnv(games, seed=5000, max_episode_steps=300)
    ended: dict[int, float] = {}
    observation: Any = env.reset()
    rng = np.random.default_rng(0)
    while len(ended) < games:
        masks = get_action_masks(env)
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        if model is not None:
            actions, _ = model.predict(observation, action_masks=masks, deterministic=True)
        observation, _, dones, infos = env.step(actions)
        for game in np.flatnonzero(dones).tolist():
            ended.setdefault(game, infos[game]["episode"]["r"])
    env.close()
    return np.array(list(ended.values()))


def test_an_episode_is_told_in_the_rollout_in_which_it_ended_and_in_no_other() -> None:
    told: list[dict[str, Any]] = []
    metrics = EpisodeMetrics(lambda ended: {"episodes": float(len(ended))})
    logger = SimpleNamespace(record=lambda name, value: told[-1].update({name: value}))
    metrics.model = SimpleNamespace(logger=logger)  # type: ignore[assignment]
    for earned in ([1.0, 3.0], [5.0], []):
        told.append({})
        summaries = [{"episode_stats": {"reward_breakdown": {"food": each}}} for each in earned]
        metrics.locals = {"infos": [*summaries, {}]}
        metrics._on_step()
        metrics._on_rollout_end()
    assert told == [{"episode_reward/food": 2.0, "episodes": 2.0}, {"episode_reward/food": 5.0, "episodes": 1.0}, {}]


def test_everybody_else_can_load_the_model(finished: Path) -> None:
    model = finished / "final_model.zip"
    theirs, ours = MaskablePPO.load(model, device="cpu"), load_model(model, WORLD, "cpu")
    for name, value in theirs.policy.state_dict().items():
        assert torch.equal(value, ours.policy.state_dict()[name])
    moments = (each.policy.optimizer.state_dict()["state"] for each in (theirs, ours))
    for one, other in zip(*(state.values() for state in moments), strict=True):
        assert all(torch.equal(one[name], other[name]) for name in one)
    for name in ("num_timesteps", "_n_updates", "observation_space", "action_space", "n_steps", "ent_coef", "seed"):
        assert getattr(theirs, name) == getattr(ours, name)
    assert list(theirs.ep_info_buffer or ()) == list(ours.ep_info_buffer or ())

"""Whole updates: what pays is learnt, runs repeat bit for bit, metrics and interrupts."""

import dataclasses
import math
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from parity.errors import ParityError, UsageError
from worldkit.jax import trace_cache
from worldkit.ppo import loop
from worldkit.ppo.checkpoints import Log, LoopState, Progress
from worldkit.ppo.loop import CompiledTraining, compile_training, metrics_of, run_training
from worldkit.ppo.masked_ppo import LossStats
from worldkit.ppo.networks import network_of
from worldkit.ppo.params import load_params
from worldkit.ppo.rollout import RolloutMetrics
from worldkit.ppo.training import train
from worldkit.ppo.update import UpdateStats, init_runner
from worldkit.runs.run import TrainingDiverged
from worldkit.runs.stop import StopRequest

from .conftest import SMALL
from .orchards import PackedOrchard


class Recorder:
    """A sink that keeps what it is given, and may do something at its first row."""

    def __init__(self, signal_number: int | None = None) -> None:
        self.rows: list[Mapping[str, float]] = []
        self._signal = signal_number

    def write(self, metrics: Mapping[str, float]) -> None:
        self.rows.append(metrics)
        if self._signal and len(self.rows) == 1:
            os.kill(os.getpid(), self._signal)


def run(
    trainer: CompiledTraining, env: PackedOrchard, total_timesteps: int = SMALL.total_timesteps
) -> tuple[LoopState, Recorder]:
    recorder = Recorder()
    config = dataclasses.replace(SMALL, total_timesteps=total_timesteps)
    return run_training(trainer.train, fresh(trainer), config, env, write=recorder.write), recorder


def fresh(trainer: CompiledTraining) -> LoopState:
    """The state in which a run begins."""
    return LoopState(trainer.runner, Progress(), Log())


@pytest.fixture(scope="module")
def finished(trainer: CompiledTraining, orchard: PackedOrchard) -> tuple[LoopState, Recorder]:
    return run(trainer, orchard)


def test_what_pays_is_learnt(finished: tuple[LoopState, Recorder]) -> None:
    result, recorder = finished
    first, last = recorder.rows[0], recorder.rows[-1]
    assert result.progress.updates == SMALL.num_updates
    # the mean over 7,680 steps has a standard error of about 0.001
    assert last["train/mean_reward"] - first["train/mean_reward"] > 0.02


def test_metrics_have_the_documented_names(finished: tuple[LoopState, Recorder]) -> None:
    documented = {
        *(f"reward/{name}" for name in PackedOrchard.components),
        "actions/pick_frac",
        *(
            f"train/{name}"
            for name in (
                "entropy",
                "mean_episode_return",
                "mean_episode_length",
                "pg_loss",
                "approx_kl",
                "clip_frac",
                "mean_reward",
                "num_episodes",
            )
        ),
        "stats/best_score",
    }
    beyond = {
        "train/entropy_ratio",
        "train/total_loss",
        "train/value_loss",
        "update",
        "timesteps",
        "seconds",
        "steps_per_second",
    }
    for row in finished[1].rows:
        assert set(row) == documented | beyond


def test_metrics_agree_with_each_other(finished: tuple[LoopState, Recorder]) -> None:
    for row in finished[1].rows:
        assert row["reward/step"] == pytest.approx(-0.01)
        total = sum(row[f"reward/{name}"] for name in PackedOrchard.components)
        assert total == pytest.approx(row["train/mean_reward"], abs=1e-6)
        assert 0.1 * row["actions/pick_frac"] <= row["reward/fruit"] <= 0.3 * row["actions/pick_frac"]
    assert [row["update"] for row in finished[1].rows] == [20, 40, 60]
    assert finished[1].rows[-1]["timesteps"] == 60 * SMALL.batch_size


def test_metrics_of_a_chunk_without_finished_episodes_are_not_numbers() -> None:
    rollout = RolloutMetrics(
        reward_sum=jnp.zeros(2),
        component_sums=jnp.zeros((2, 3)),
        episodes=jnp.zeros(2, int),
        return_sum=jnp.zeros(2),
        length_sum=jnp.zeros(2, int),
        sums={"actions/pick_frac": jnp.array([6, 3])},
        maxima={"stats/best_score": jnp.array([1, 2])},
    )
    losses: Any = dict.fromkeys(LossStats._fields[:-1], jnp.zeros(2))
    stats = UpdateStats(LossStats(**losses), rollout)
    metrics = metrics_of(jax.tree.map(np.asarray, stats), 12, PackedOrchard())
    assert metrics["actions/pick_frac"] == 0.75
    assert math.isnan(metrics["train/mean_episode_return"])
    assert math.isnan(metrics["train/mean_episode_length"])
    assert metrics["train/num_episodes"] == 0
    assert metrics["stats/best_score"] == 2


def test_the_same_seed_gives_the_same_parameters_bit_for_bit(trainer: CompiledTraining, orchard: PackedOrchard) -> None:
    train = trainer.train
    first, _ = train(init_runner(SMALL, orchard), jnp.int32(5))
    again, _ = train(init_runner(SMALL, orchard), jnp.int32(5))
    other, _ = train(init_runner(dataclasses.replace(SMALL, seed=2**40 + 3), orchard), jnp.int32(5))
    same = jax.tree.map(lambda a, b: bool((a == b).all()), first.train_state.params, again.train_state.params)
    assert all(jax.tree.leaves(same))
    differs = jax.tree.map(lambda a, b: bool((a != b).any()), first.train_state.params, other.train_state.params)
    assert any(jax.tree.leaves(differs))


def test_a_kept_trace_trains_as_a_fresh_one_does_bit_for_bit(
    trainer: CompiledTraining, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class KeptEnv(PackedOrchard):
        packages = ("tests",)

    monkeypatch.setattr(trace_cache, "_cache_folder", lambda: tmp_path)
    compile_training(SMALL, KeptEnv())
    monkeypatch.setattr(trace_cache, "_trace", lambda *_: pytest.fail("it was traced again"))
    again = compile_training(dataclasses.replace(SMALL, total_timesteps=2 * SMALL.total_timesteps), KeptEnv())
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), again.stats) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), trainer.stats
    )
    expected, _ = trainer.train(trainer.runner, jnp.int32(3))
    trained, _ = again.train(again.runner, jnp.int32(3))
    jax.tree.map(np.testing.assert_array_equal, trained.train_state.params, expected.train_state.params)
    jax.tree.map(np.testing.assert_array_equal, trained.env_state, expected.env_state)


def test_how_updates_are_grouped_into_calls_changes_nothing(trainer: CompiledTraining, orchard: PackedOrchard) -> None:
    runner = init_runner(SMALL, orchard)
    together, stats = trainer.train(runner, jnp.int32(5))
    for index in range(5):
        runner, alone = trainer.train(runner, jnp.int32(1))
        assert alone.loss.total_loss[0] == stats.loss.total_loss[index]
    same = jax.tree.map(lambda a, b: bool((a == b).all()), together.train_state.params, runner.train_state.params)
    assert all(jax.tree.leaves(same))


def test_a_shorter_last_chunk_is_trained_too(trainer: CompiledTraining, orchard: PackedOrchard) -> None:
    result, recorder = run(trainer, orchard, total_timesteps=25 * SMALL.batch_size + 7)
    assert [row["update"] for row in recorder.rows] == [20, 25]
    assert (result.progress.updates, result.progress.timesteps) == (25, 25 * SMALL.batch_size)


def test_an_impossible_configuration_is_refused_before_anything_is_compiled(orchard: PackedOrchard) -> None:
    with pytest.raises(UsageError, match="num_minibatches must divide"):
        train(dataclasses.replace(SMALL, num_minibatches=7), orchard)


def test_worlds_of_one_class_share_no_kept_program(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[list[str]] = []

    def record(*arguments: Any, about: list[str], packages: Sequence[str]) -> Any:  # noqa: ANN401 - as it is called
        kept.append(about)
        return trace_cache.load_or_trace(*arguments, about=about, packages=packages)

    monkeypatch.setattr(loop, "load_or_trace", record)
    for name in ("orchard", "a harder orchard"):
        orchard = PackedOrchard()
        orchard.name = name
        compile_training(SMALL, orchard)
    assert len(kept) == 4
    assert len({tuple(about) for about in kept}) == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_after_the_current_chunk(
    number: int, trainer: CompiledTraining, orchard: PackedOrchard
) -> None:
    recorder, announced = Recorder(signal_number=number), []
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with StopRequest(announce=lambda: announced.append(True)) as stop:
        result = run_training(
            trainer.train, fresh(trainer), SMALL, orchard, write=recorder.write, should_stop=lambda: stop.requested
        )
        assert signal.getsignal(signal.SIGINT) == signal.SIG_DFL, "a second Ctrl-C would not end the process"
    assert (result.progress.updates, len(recorder.rows), announced) == (20, 1, [True])
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_a_diverged_run_stops_and_says_so(trainer: CompiledTraining, orchard: PackedOrchard) -> None:
    state = trainer.runner.train_state
    broken = state.replace(params=jax.tree.map(lambda leaf: leaf * jnp.nan, state.params))
    recorder = Recorder()
    start = LoopState(trainer.runner._replace(train_state=broken), Progress(), Log())
    with pytest.raises(TrainingDiverged, match=r"by update 20: .* lower --lr"):
        run_training(trainer.train, start, SMALL, orchard, write=recorder.write)
    assert len(recorder.rows) == 1


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1 byte.")])
def test_too_little_memory_is_one_sentence(
    error: Exception, orchard: PackedOrchard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("worldkit.ppo.training.compile_training", fail)
    with pytest.raises(ParityError, match=r"^Training needs more memory than there is: give fewer --num-envs, or more"):
        train(SMALL, orchard)


def test_files_that_hold_no_parameters_are_refused_in_one_sentence(tmp_path: Path) -> None:
    text = tmp_path / "text.npz"
    text.write_text("not an archive")
    plain = tmp_path / "plain.npy"
    np.save(plain, np.zeros(3))
    foreign = tmp_path / "foreign.npz"
    np.savez(foreign, weights=np.zeros(3))
    for path, message in (
        (tmp_path / "missing.npz", "does not exist"),
        (text, "cannot be read"),
        (plain, "cannot be read"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(ParityError, match=message):
            load_params(path)
    with pytest.raises(ParityError, match="not those of an ActorCritic"):
        network_of(load_params(foreign), PackedOrchard().networks())

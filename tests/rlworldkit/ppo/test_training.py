"""Whole updates: what pays is learnt, runs repeat bit for bit, metrics and interrupts."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rlparity.errors import ParityError, UsageError
from rlworldkit.jax import program_cache
from rlworldkit.jax.trace_cache import TracedProgram
from rlworldkit.ppo import program
from rlworldkit.ppo.checkpoints import Log, LoopState
from rlworldkit.ppo.loop import _metrics_since
from rlworldkit.ppo.metrics import RolloutMetrics, metrics_of
from rlworldkit.ppo.ppo import LossStats, UpdateStats
from rlworldkit.ppo.program import CompiledTraining, compile_training
from rlworldkit.ppo.training import train
from rlworldkit.runs.run import Progress, TrainingDiverged
from rlworldkit.runs.stop import StopRequest

from .conftest import SMALL, run_training
from .orchards import PackedOrchard

Rows = list[Mapping[str, float]]


def run(
    trainer: CompiledTraining, env: PackedOrchard, total_timesteps: int = SMALL.total_timesteps
) -> tuple[LoopState, Rows]:
    rows: Rows = []
    config = dataclasses.replace(SMALL, total_timesteps=total_timesteps)
    return run_training(trainer.train, fresh(trainer), config, env, write=rows.append), rows


def fresh(trainer: CompiledTraining) -> LoopState:
    """The state in which a run begins."""
    return LoopState(trainer.runners[0], Progress(), Log())


@pytest.fixture(scope="module")
def finished(trainer: CompiledTraining, orchard: PackedOrchard) -> tuple[LoopState, Rows]:
    return run(trainer, orchard)


def test_what_pays_is_learnt(finished: tuple[LoopState, Rows]) -> None:
    result, (first, *_, last) = finished
    assert result.progress.updates == SMALL.num_updates
    # the mean over 7,680 steps has a standard error of about 0.001
    assert last["train/mean_reward"] - first["train/mean_reward"] > 0.02


def test_metrics_have_the_documented_names_and_agree_with_each_other(finished: tuple[LoopState, Rows]) -> None:
    documented = (
        "reward/step reward/fruit reward/sting actions/pick_frac stats/best_score train/entropy train/pg_loss"
        " train/mean_episode_return train/mean_episode_length train/approx_kl train/clip_frac train/mean_reward"
        " train/num_episodes train/entropy_ratio train/total_loss train/value_loss"
        " update timesteps seconds steps_per_second"
    )
    for row in finished[1]:
        assert set(row) == set(documented.split())
        assert row["reward/step"] == pytest.approx(-0.01)
        total = sum(row[f"reward/{name}"] for name in PackedOrchard.components)
        assert total == pytest.approx(row["train/mean_reward"], abs=1e-6)
        assert 0.1 * row["actions/pick_frac"] <= row["reward/fruit"] <= 0.3 * row["actions/pick_frac"]
    assert [row["update"] for row in finished[1]] == [20, 40, 60]
    assert finished[1][-1]["timesteps"] == 60 * SMALL.batch_size


@pytest.mark.long
def test_a_kept_trace_trains_as_a_fresh_one_does_bit_for_bit(
    trainer: CompiledTraining, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class KeptEnv(PackedOrchard):
        packages = ("tests",)

    monkeypatch.setattr(program_cache, "cache_folder", lambda: tmp_path)
    compile_training(SMALL, KeptEnv())
    monkeypatch.setattr("rlworldkit.jax.trace_cache.export.export", lambda *_: pytest.fail("it was traced again"))
    longer, dear = dataclasses.replace(SMALL, total_timesteps=2 * SMALL.total_timesteps), np.array([1, 2, 3], np.int32)
    again = compile_training(longer, KeptEnv().with_prices(dear))
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), again.stats) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), trainer.stats
    )
    (expected,), _ = trainer.train(trainer.runners, jnp.int32(3))
    (trained,), _ = again.train(again.runners, jnp.int32(3), SMALL.num_updates, PackedOrchard.prices[None])
    jax.tree.map(np.testing.assert_array_equal, trained.train_state.params, expected.train_state.params)
    jax.tree.map(np.testing.assert_array_equal, trained.env_state, expected.env_state)


def test_a_shorter_last_chunk_is_trained_too(trainer: CompiledTraining, orchard: PackedOrchard) -> None:
    result, rows = run(trainer, orchard, total_timesteps=25 * SMALL.batch_size + 7)
    assert [row["update"] for row in rows] == [20, 25]
    assert (result.progress.updates, result.progress.timesteps) == (25, 25 * SMALL.batch_size)


def test_an_impossible_configuration_is_refused_before_anything_is_compiled(orchard: PackedOrchard) -> None:
    with pytest.raises(UsageError, match="num_minibatches must divide"):
        train(dataclasses.replace(SMALL, num_minibatches=7), orchard)


def test_worlds_of_one_class_share_no_kept_program(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[list[str]] = []

    def record(function: Any, *args: Any, about: list[str], packages: object) -> TracedProgram:  # noqa: ANN401 - as called
        kept.append(about)
        return TracedProgram(jax.eval_shape(function, *args), lambda: lambda *_: None)

    monkeypatch.setattr(program, "load_or_trace", record)
    monkeypatch.setattr(program, "init_runner", lambda *_: {"a runner": jnp.zeros(1)})
    monkeypatch.setattr(program, "make_train", lambda *_: lambda runner, *_: (runner, None))
    for name in ("orchard", "a harder orchard"):
        orchard = PackedOrchard()
        orchard.name = name
        compile_training(SMALL, orchard)
    assert len(kept) == 4
    assert len({tuple(about) for about in kept}) == 4


def test_a_run_that_is_to_stop_ends_after_the_current_chunk(trainer: CompiledTraining, orchard: PackedOrchard) -> None:
    stop, rows = StopRequest(), Rows()

    def write(row: Mapping[str, float]) -> None:
        rows.append(row)
        stop.requested = True

    result = run_training(trainer.train, fresh(trainer), SMALL, orchard, write=write, stop=stop)
    assert (result.progress.updates, len(rows)) == (20, 1)


def test_a_diverged_run_stops_and_says_so(trainer: CompiledTraining, orchard: PackedOrchard) -> None:
    state = trainer.runners[0].train_state
    broken = state.replace(params=jax.tree.map(lambda leaf: leaf * jnp.nan, state.params))
    rows: Rows = []
    start = LoopState(trainer.runners[0]._replace(train_state=broken), Progress(), Log())
    with pytest.raises(TrainingDiverged, match=r"by update 20: .* lower learning rate"):
        run_training(trainer.train, start, SMALL, orchard, write=rows.append)
    assert len(rows) == 1


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1 byte.")])
def test_too_little_memory_is_one_sentence(
    error: Exception, orchard: PackedOrchard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("rlworldkit.ppo.training.compile_training", fail)
    with pytest.raises(ParityError, match=r"^Training needs more memory than there is: give fewer --num-envs, or more"):
        train(SMALL, orchard)


STEPS = 40


@pytest.fixture(scope="module")
def stats() -> UpdateStats:
    """Those of two updates, in which no two numbers are alike."""
    rollout = RolloutMetrics(
        reward_sum=jnp.array([10.0, 30.0]),
        component_sums=jnp.arange(6.0).reshape(2, 3),
        episodes=jnp.array([3, 5]),
        return_sum=jnp.array([6.0, 34.0]),
        length_sum=jnp.array([12, 44]),
        sums={"actions/move_frac": jnp.array([6.0, 14.0]), "actions/siphon_frac": jnp.array([1.0, 3.0])},
        maxima={"stats/highest_stage": jnp.array([7, 2])},
    )
    parts: Any = {name: jnp.array([number, number + 10.0]) for number, name in enumerate(LossStats._fields[:-1])}
    losses = LossStats(**parts, diagnostics={"grad_norm": jnp.array([1.0, 4.0])})
    host: UpdateStats = jax.tree.map(np.asarray, UpdateStats(losses, rollout))
    return host


def test_metrics_are_the_documented_sums_and_means(stats: UpdateStats) -> None:
    """Components in rewards per step, losses as means over the updates, episodes counted per update."""
    metrics = metrics_of(stats.loss.by_name(), stats.rollout, STEPS, PackedOrchard())
    for name, total in zip(PackedOrchard.components, (3, 5, 7), strict=True):
        assert metrics.pop(f"reward/{name}") == pytest.approx(total / STEPS / 1000), name
    for number, name in enumerate(LossStats._fields[:-1]):
        assert metrics.pop(f"train/{name}") == number + 5
    assert metrics == {
        "train/grad_norm": 2.5,
        "train/num_episodes": 4,
        "train/mean_episode_return": 40 / 8,
        "train/mean_episode_length": 56 / 8,
        "train/mean_reward": 1.0,
        "actions/move_frac": 0.5,
        "actions/siphon_frac": 0.1,
        "stats/highest_stage": 7,
    }


def test_without_a_finished_episode_there_is_no_mean_of_them(stats: UpdateStats) -> None:
    none: Any = dict.fromkeys(("episodes", "return_sum", "length_sum"), np.zeros(2))
    metrics = metrics_of({}, stats.rollout._replace(**none), STEPS, PackedOrchard())
    assert metrics["train/num_episodes"] == 0
    assert np.isnan([metrics["train/mean_episode_return"], metrics["train/mean_episode_length"]]).all()
    assert (metrics["actions/move_frac"], metrics["stats/highest_stage"]) == (0.5, 7)


def test_speed_is_that_since_the_last_row(stats: UpdateStats) -> None:
    log = Log(Progress(updates=3, timesteps=400, seconds=100.0), {}, (stats,))
    row = _metrics_since(log, Progress(updates=5, timesteps=500, seconds=110.0), PackedOrchard())
    assert row["steps_per_second"] == 10
    assert (row["update"], row["timesteps"], row["seconds"]) == (5, 500, 110)

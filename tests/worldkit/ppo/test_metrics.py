"""Metrics: every name gets its own figure, in the unit that the documents give it."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from worldkit.ppo.checkpoints import Log, Progress
from worldkit.ppo.loop import _metrics_since, metrics_of
from worldkit.ppo.masked_ppo import LossStats
from worldkit.ppo.rollout import RolloutMetrics
from worldkit.ppo.update import UpdateStats

from .orchards import PackedOrchard

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


@pytest.fixture(scope="module")
def metrics(stats: UpdateStats) -> dict[str, float]:
    return metrics_of(stats, STEPS, PackedOrchard())


def test_every_component_has_its_own_name_in_rewards_per_step(metrics: dict[str, float]) -> None:
    for name, total in zip(PackedOrchard.components, (3, 5, 7), strict=True):
        assert metrics[f"reward/{name}"] == pytest.approx(total / STEPS / 1000), name


def test_losses_are_means_over_the_updates(metrics: dict[str, float]) -> None:
    for number, name in enumerate(LossStats._fields[:-1]):
        assert metrics[f"train/{name}"] == number + 5
    assert metrics["train/grad_norm"] == 2.5


def test_episodes_are_counted_per_update_and_averaged_over_all(metrics: dict[str, float]) -> None:
    assert metrics["train/num_episodes"] == 4
    assert metrics["train/mean_episode_return"] == 40 / 8
    assert metrics["train/mean_episode_length"] == 56 / 8
    assert metrics["train/mean_reward"] == 1.0


def test_what_the_world_adds_is_a_share_of_steps_or_the_highest(metrics: dict[str, float]) -> None:
    assert metrics["actions/move_frac"] == 0.5
    assert metrics["actions/siphon_frac"] == 0.1
    assert metrics["stats/highest_stage"] == 7


def test_without_a_finished_episode_there_is_no_mean_of_them(stats: UpdateStats) -> None:
    none = dict.fromkeys(("episodes", "return_sum", "length_sum"), np.zeros(2))
    metrics = metrics_of(stats._replace(rollout=stats.rollout._replace(**none)), STEPS, PackedOrchard())
    assert metrics["train/num_episodes"] == 0
    assert np.isnan([metrics["train/mean_episode_return"], metrics["train/mean_episode_length"]]).all()
    assert (metrics["actions/move_frac"], metrics["stats/highest_stage"]) == (0.5, 7)


def test_speed_is_that_since_the_last_row(stats: UpdateStats) -> None:
    log = Log(Progress(updates=3, timesteps=400, seconds=100.0), {}, (stats,))
    row = _metrics_since(log, Progress(updates=5, timesteps=500, seconds=110.0), PackedOrchard())
    assert row["steps_per_second"] == 10
    assert (row["update"], row["timesteps"], row["seconds"]) == (5, 500, 110)

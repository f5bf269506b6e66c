"""Metrics of episodes, callback by callback."""

from types import SimpleNamespace
from typing import Any

import pytest

from worldkit.sb3.callbacks import EpisodeMetrics, RunWriter


def test_seconds_count_on_and_steps_per_second_are_those_since_the_last_row(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[dict[str, float]] = []
    clock = iter([100.0, 100.25, 104.25])  # less than the second that Stable-Baselines3 shows as 0
    monkeypatch.setattr("worldkit.sb3.callbacks.time.perf_counter", lambda: next(clock))
    writer = RunWriter(SimpleNamespace(write=written.append), first_step=1000, seconds=50.0)  # type: ignore[arg-type]
    logged = {"rollout/ep_rew_mean": 1.0, "rollout/ep_len_mean": 5.0, "time/time_elapsed": 0}
    for step in (1000, 1064, 1192):  # the first is an evaluation's, before the session has a step
        writer.write(logged, {}, step)
    figures = [(row["timesteps"], row["seconds"], row["steps_per_second"]) for row in written]
    assert figures == [(1064, 50.25, 256.0), (1192, 54.25, 32.0)]


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

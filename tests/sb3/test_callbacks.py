"""What the trainer says of episodes, callback by callback."""

from types import SimpleNamespace
from typing import Any

from worldkit.sb3.callbacks import EpisodeMetrics


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

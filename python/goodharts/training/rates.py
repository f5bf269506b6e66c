"""Linear schedules of the learning rate, the clipping range and the entropy coefficient."""

from __future__ import annotations

from typing import NamedTuple

from goodharts.config import Training


class Rates(NamedTuple):
    """The rates of one update."""

    learning_rate: float
    clip_eps: float
    entropy_coef: float


def rates_at(update: int, updates: int, config: Training) -> Rates:
    """The rates of an update, counted from 0: linear from the first of ``updates`` to the last."""
    done = update / max(updates - 1, 1)

    def between(first: float, last: float) -> float:
        return first + (last - first) * done

    return Rates(
        between(config.learning_rate, config.learning_rate_final),
        between(config.eps_clip, config.eps_clip_final),
        between(config.entropy_initial, config.entropy_final),
    )

"""State of a training run, for a page that shows it: its newest figures, its curves, and how it ended."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rlworldkit.runs.sinks import Metrics, seconds_left

Outcome = Literal["finished", "stopped", "failed"]
MOST_POINTS = 150
"""Most points of a curve: as many as a chart of its size can resolve."""
FIGURES = (
    ("train/mean_episode_return", "Episode reward", ""),
    ("train/mean_episode_length", "Episode length", "steps"),
    ("train/pg_loss", "Policy loss", ""),
    ("train/value_loss", "Value loss", ""),
    ("train/entropy", "Entropy", "nats"),
    ("steps_per_second", "Speed", "steps/s"),
)
"""Metrics that are shown of every run: name, title and unit."""
_COLUMNS = ("update", *(name for name, _, _ in FIGURES))


class RunState:
    """State of one run, from its rows of metrics. total: the steps of all its updates."""

    def __init__(self, total: int) -> None:
        self.total, self.state, self.sentence = total, "waiting", ""
        self.newest: dict[str, float] = {}
        self._first: dict[str, float] = {}
        self._rows: list[list[float]] = []

    def add(self, metrics: Metrics) -> None:
        """Add the metrics of the next interval; values that are not finite count as unknown."""
        known = {name: float(value) for name, value in metrics.items() if math.isfinite(value)}
        self.newest = {**self.newest, **known}
        self._first = self._first or self.newest
        self._rows.append([known.get(name, math.nan) for name in _COLUMNS])
        self.state = "training" if self.state == "waiting" else self.state

    def plain(self, actions: int) -> dict[str, Any]:
        """The run as JSON values."""
        width, points = thinned(np.array(self._rows or np.empty((0, len(_COLUMNS)))))
        figures = [self.newest.get(name, math.nan) for name in _COLUMNS]
        shares = [self.newest.get(f"train/action_prob_{action}", math.nan) for action in range(actions)]
        return {
            "state": self.state,
            "sentence": self.sentence,
            "timesteps": self.newest.get("timesteps", 0),
            "total": self.total,
            "seconds_left": _plain(seconds_left(self._first, self.newest, self.total) if self.newest else math.nan),
            "figures": [*map(_plain, figures)],
            "actions": [*map(_plain, shares)],
            "width": width,
            "curves": [[*map(_plain, column)] for column in points.T.tolist()],
        }


def thinned(rows: NDArray[np.float64]) -> tuple[int, NDArray[np.float64]]:
    """Average at most ``MOST_POINTS`` groups of successive rows; return group size and means, NaN if all are unknown.

    The group size doubles as the rows, (n, columns), become more, so that most points stay where they were.
    """
    width = 1
    while len(rows) > MOST_POINTS * width:
        width *= 2
    if width == 1:
        return 1, rows
    starts, known = np.arange(0, len(rows), width), ~np.isnan(rows)
    sums = np.add.reduceat(np.where(known, rows, 0.0), starts)
    counts = np.add.reduceat(known.astype(np.float64), starts)
    return width, np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def _plain(number: float) -> float | None:
    return float(f"{number:.6g}") if math.isfinite(number) else None

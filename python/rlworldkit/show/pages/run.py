"""Curves from the metrics in the folder of a training run."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rlparity.viewer.page import Curve
from rlworldkit.runs.folder import METRICS
from rlworldkit.runs.sinks import Metrics, Milestone, read_csv

STEPS = "timesteps"
"""Column of the metrics that is the x axis of curves."""
_RETURN = "train/mean_episode_return"
_FIRST = ("train/mean_episode_length", "train/entropy")
_SHOWN = ("train/", "stats/", "actions/", "reward/", "episode_reward/", "steps_per_second")
"""Prefixes of the metrics that become curves; the others are counters, or duplicates of these."""


def curves(folder: Path, milestone: Milestone | None) -> tuple[Curve, ...]:
    """Read the curves that a run recorded; empty if it recorded nothing.

    Return, milestone, length and entropy come first; the others follow in the order in which the run recorded them.

    Raises UsageError if its metrics cannot be read.
    """
    rows = read_csv(folder / METRICS)
    recorded = dict.fromkeys(name for row in rows for name in row if name.startswith(_SHOWN))
    first = (_RETURN, *([milestone.metric] if milestone else ()), *_FIRST)
    names = [*(name for name in first if name in recorded), *(name for name in recorded if name not in first)]
    drawn = (_curve(name, rows) for name in names)
    return tuple(curve for curve in drawn if curve.values)


def _curve(name: str, rows: Sequence[Metrics]) -> Curve:
    points = [
        (row[STEPS], row[name]) for row in rows if np.isfinite((row.get(STEPS, np.nan), row.get(name, np.nan))).all()
    ]
    return Curve(name, tuple(int(steps) for steps, _ in points), tuple(value for _, value in points))

"""The curves that a run of training has left in its folder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rlparity.viewer.page import Curve
from rlworldkit.runs.folder import METRICS
from rlworldkit.runs.sinks import Metrics, Milestone, read_csv

STEPS = "timesteps"
"""The column over which curves are drawn."""
_RETURN = "train/mean_episode_return"
_FIRST = ("train/mean_episode_length", "train/entropy")
_SHOWN = ("train/", "stats/", "actions/", "reward/", "episode_reward/", "steps_per_second")
"""Beginnings of the names of curves: what else a trainer records are counters, and what is among these already."""


def curves(folder: Path, milestone: Milestone | None) -> tuple[Curve, ...]:
    """The curves that a run recorded; none where it recorded nothing.

    First comes what people look at first; the others follow in the order in which the run recorded them.

    Raises UsageError where its metrics cannot be read.
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

"""What a run of training has left in its folder: curves, and agents from the furthest one down."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from parity.viewer.page import Curve
from worldkit.purejaxrl.params import trained_files
from worldkit.runs.run import METRICS
from worldkit.runs.sinks import Metrics, read_csv

STEPS = "timesteps"
"""The column over which curves are drawn."""
FIRST = ("train/mean_episode_return", "stats/highest_stage", "train/mean_episode_length", "train/entropy")
"""What people look at first; the others follow in the order in which the run recorded them."""
_SHOWN = ("train/", "stats/", "actions/", "reward/", "episode_reward/", "steps_per_second")
"""How the names of curves begin: what else a trainer records are counters, and what is among these already."""
MODELS = "*.zip"


def curves(folder: Path) -> tuple[Curve, ...]:
    """The curves that a run recorded; none where it recorded nothing.

    Raises UsageError where its metrics cannot be read.
    """
    rows = read_csv(folder / METRICS)
    recorded = dict.fromkeys(name for row in rows for name in row if name.startswith(_SHOWN))
    names = [*(name for name in FIRST if name in recorded), *(name for name in recorded if name not in FIRST)]
    drawn = (_curve(name, rows) for name in names)
    return tuple(curve for curve in drawn if curve.values)


def agents(folder: Path) -> Sequence[Path]:
    """The agents of a run, the furthest first: parameters and checkpoints of `train`, or else models of `train-sb3`."""
    found = [path for path in trained_files(folder) if path.parent == folder]
    return found or _furthest_first(folder.glob(MODELS))


def _furthest_first(models: Iterable[Path]) -> Sequence[Path]:
    models = list(models)
    if not models:
        return ()
    from worldkit.sb3.models import timesteps_of  # torch takes a while to import

    return sorted(models, key=lambda path: (timesteps_of(path), path.name), reverse=True)


def _curve(name: str, rows: Sequence[Metrics]) -> Curve:
    points = [
        (row[STEPS], row[name]) for row in rows if np.isfinite((row.get(STEPS, np.nan), row.get(name, np.nan))).all()
    ]
    return Curve(name, tuple(int(steps) for steps, _ in points), tuple(value for _, value in points))

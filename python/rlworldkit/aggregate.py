"""Scores of many runs in a few figures, with stratified bootstrap intervals (Agarwal et al. 2021, arXiv:2108.13264).

Scores are float64 (runs, tasks): a task is what is scored apart, such as a mode of a world. Intervals hold 95%: runs
are drawn with replacement, those of each task apart, and the figure is worked out anew.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlparity.io.intervals import FEWEST, RESAMPLES, TAILS

Floats = NDArray[np.float64]


def interquartile_mean(scores: Floats) -> Floats:
    """The mean of the middle half of all scores (..., runs, tasks): float64 (...)."""
    ordered = np.sort(scores.reshape(*scores.shape[:-2], -1), axis=-1)
    trimmed = ordered.shape[-1] // 4
    return np.asarray(ordered[..., trimmed : ordered.shape[-1] - trimmed].mean(axis=-1))


def median(scores: Floats) -> Floats:
    """The median over runs of their mean over tasks, of scores (..., runs, tasks): float64 (...)."""
    return np.asarray(np.median(scores.mean(axis=-1), axis=-1))


def optimality_gap(scores: Floats, target: float) -> Floats:
    """By how much scores (..., runs, tasks) fall short of ``target`` on average, more counting as target: (...)."""
    return np.asarray(target - np.minimum(scores, target).mean(axis=(-2, -1)))


def probability_of_improvement(ours: Floats, theirs: Floats) -> Floats:
    """The share of pairs of ``ours`` (..., n, tasks) and ``theirs`` (..., m, tasks) where ours is more, ties half."""
    ours, theirs = ours[..., :, None, :], theirs[..., None, :, :]
    return np.asarray(((ours > theirs) + 0.5 * (ours == theirs)).mean(axis=(-3, -2, -1)))


def performance_profile(scores: Floats, thresholds: Floats) -> Floats:
    """The share of scores (..., runs, tasks) above each of the thresholds (n,): (..., n)."""
    return np.asarray((scores[..., None] > thresholds).mean(axis=(-3, -2)))


def with_interval(figure: Callable[..., Floats], *groups: ArrayLike) -> dict[str, Any]:
    """A figure of groups of scores (runs, tasks) as ``mean``, with its interval from ``low`` to ``high``.

    Numbers or lists. The interval is NaN where a group has fewer than ``FEWEST`` runs, and where all resamples agree,
    as they do of runs that are alike.
    """
    arrays = [np.asarray(group, np.float64) for group in groups]
    found = figure(*arrays)
    low = high = np.full_like(found, np.nan)
    if all(len(array) >= FEWEST for array in arrays):
        rng = np.random.default_rng(0)
        bounds = np.percentile(figure(*(_resampled(array, rng) for array in arrays)), TAILS, axis=0)
        if (bounds[0] != bounds[1]).any():
            low, high = bounds
    return {"mean": found.tolist(), "low": low.tolist(), "high": high.tolist()}


def _resampled(scores: Floats, rng: np.random.Generator) -> Floats:
    """As many runs drawn with replacement, for each task apart: (RESAMPLES, runs, tasks)."""
    runs, tasks = scores.shape
    return scores[rng.integers(runs, size=(RESAMPLES, runs, tasks)), np.arange(tasks)]

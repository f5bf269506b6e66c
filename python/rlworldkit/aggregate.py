"""Aggregate metrics of many runs, with stratified bootstrap intervals (Agarwal et al. 2021, arXiv:2108.13264).

Scores are float64 (runs, tasks); tasks, such as the modes of a world, are scored separately. Intervals have 95%
confidence: each resample draws runs with replacement, separately for each task, and recomputes the metric.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlparity.io.intervals import FEWEST, RESAMPLES, TAILS

Floats = NDArray[np.float64]


def interquartile_mean(scores: Floats) -> Floats:
    """Mean of the middle half of all scores (..., runs, tasks): float64 (...)."""
    ordered = np.sort(scores.reshape(*scores.shape[:-2], -1), axis=-1)
    trimmed = ordered.shape[-1] // 4
    return np.asarray(ordered[..., trimmed : ordered.shape[-1] - trimmed].mean(axis=-1))


def median(scores: Floats) -> Floats:
    """Median over runs of the mean over tasks, for scores (..., runs, tasks): float64 (...)."""
    return np.asarray(np.median(scores.mean(axis=-1), axis=-1))


def optimality_gap(scores: Floats, target: float) -> Floats:
    """Mean shortfall of scores (..., runs, tasks) below ``target``; higher scores count as ``target``: (...)."""
    return np.asarray(target - np.minimum(scores, target).mean(axis=(-2, -1)))


def probability_of_improvement(ours: Floats, theirs: Floats) -> Floats:
    """Share of pairs of ``ours`` (..., n, tasks) and ``theirs`` (..., m, tasks) where ours is higher, ties as half."""
    ours, theirs = ours[..., :, None, :], theirs[..., None, :, :]
    return np.asarray(((ours > theirs) + 0.5 * (ours == theirs)).mean(axis=(-3, -2, -1)))


def performance_profile(scores: Floats, thresholds: Floats) -> Floats:
    """Share of scores (..., runs, tasks) above each of the thresholds (n,): (..., n)."""
    return np.asarray((scores[..., None] > thresholds).mean(axis=(-3, -2)))


def with_interval(figure: Callable[..., Floats], *groups: ArrayLike) -> dict[str, Any]:
    """Compute a metric of groups of scores (runs, tasks): ``mean``, and its interval from ``low`` to ``high``.

    Values are floats or nested lists. The interval is NaN if a group has fewer than ``FEWEST`` runs, or if all
    resamples agree, as for identical runs.
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
    """Draw as many runs with replacement, separately for each task: (RESAMPLES, runs, tasks)."""
    runs, tasks = scores.shape
    return scores[rng.integers(runs, size=(RESAMPLES, runs, tasks)), np.arange(tasks)]

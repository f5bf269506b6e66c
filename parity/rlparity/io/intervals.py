"""95% intervals by the percentile bootstrap (Efron 1979), which never leave the range of the values."""

import numpy as np
from numpy.typing import NDArray

from rlparity.engine import Array

FEWEST = 3
"""Minimum number of values for an interval: resamples of one or two values say nothing new."""
RESAMPLES = 2000
TAILS = (2.5, 97.5)
"""Percentiles that bound an interval."""
_AT_ONCE = 250
"""Resamples drawn at once, which limits memory: each one needs a number for every value."""


def resampled_sums(values: Array) -> NDArray[np.float64]:
    """Draw n rows of ``values`` (n, k) with replacement, RESAMPLES times; returns their sums (RESAMPLES, k)."""
    rng, count = np.random.default_rng(0), len(values)
    drawn = (rng.multinomial(count, np.full(count, 1 / count), size=_AT_ONCE) for _ in range(RESAMPLES // _AT_ONCE))
    return np.concatenate([often @ values for often in drawn])


def mean_intervals(values: Array) -> list[list[float]]:
    """Mean, low and high of each column of ``values`` (n, k); low and high are infinite for fewer than ``FEWEST``."""
    mean = np.mean(values, axis=0)
    low, high = np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    if len(values) >= FEWEST:
        bounds = np.percentile(resampled_sums(values) / len(values), TAILS, axis=0)
        low, high = np.clip(bounds, np.min(values, axis=0), np.max(values, axis=0))  # rounded sums may leave the range
    return np.stack([mean, low, high], axis=1).tolist()


def paired_intervals(one: Array, other: Array) -> list[list[float]]:
    """Means and intervals of two sides (n,), and of ``other - one``."""
    return mean_intervals(np.stack([one, other, other - one], axis=1))

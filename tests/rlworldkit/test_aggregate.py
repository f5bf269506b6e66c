"""Scores of many runs in a few figures. What is expected is what rliable 1.2.0 gives, intervals of 20,000 resamples."""

from functools import partial

import numpy as np
import pytest

from rlworldkit.aggregate import (
    interquartile_mean,
    median,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
    with_interval,
)

OURS = np.array(
    [
        [1.001, 1.299],
        [0.726, 0.109],
        [0.545, 0.008],
        [1.06, 2.34],
        [0.508, 0.38],
        [1.49, 1.357],
        [1.105, 0.07],
        [0.971, 1.695],
    ]
)
THEIRS = np.array([[0.156, 1.042], [-0.401, 0.21], [-0.342, 1.265], [0.233, 1.771], [1.657, 1.313], [-1.017, 0.961]])


@pytest.mark.parametrize(
    ("scores", "iqm", "gap"),
    [
        (OURS, (0.901875, 0.55174687, 1.22575625), (1.10475, 0.81612344, 1.38219219)),
        (THEIRS, (0.6445, 0.155, 1.181), (1.42933333, 1.03599792, 1.79383333)),
    ],
)
def test_figures_and_intervals_of_a_group_are_those_of_rliable(
    scores: np.ndarray, iqm: tuple[float, ...], gap: tuple[float, ...]
) -> None:
    for figure, expected in ((interquartile_mean, iqm), (partial(optimality_gap, target=2.0), gap)):
        found = list(with_interval(figure, scores).values())
        assert found[0] == pytest.approx(expected[0])
        assert found[1:] == pytest.approx(expected[1:], abs=0.03)


def test_the_probability_of_improvement_is_that_of_rliable() -> None:
    found = with_interval(probability_of_improvement, OURS, THEIRS)
    assert found["mean"] == pytest.approx(0.6354166666666667)
    assert (found["low"], found["high"]) == pytest.approx((0.40625, 0.84375), abs=0.03)
    assert probability_of_improvement(OURS, OURS) == 0.5  # a tie counts half


def test_a_performance_profile_is_that_of_rliable() -> None:
    found = with_interval(partial(performance_profile, thresholds=np.array([0.0, 1.0, 2.0])), OURS)
    assert found == {"mean": [1.0, 0.5, 0.0625], "low": [1.0, 0.25, 0.0], "high": [1.0, 0.75, 0.1875]}


def test_the_median_is_over_runs_and_one_or_two_or_equal_runs_have_no_interval() -> None:
    assert median(np.array([[1.0, 3.0], [0.0, 0.0], [5.0, 5.0]])) == 2.0
    for scores, expected in (([[1.5]], 1.5), ([[1.0], [2.0]], 1.5), ([[2.0]] * 4, 2.0)):
        found = with_interval(median, scores)
        assert found["mean"] == expected
        assert np.isnan([found["low"], found["high"]]).all()
    better = with_interval(probability_of_improvement, OURS, [[0.0, 0.0]] * 2)
    assert np.isnan([better["low"], better["high"]]).all(), "both groups need runs enough"

"""Plots of runs: return and entropy over the steps, and the world's milestone."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rlparity.io.atomic_write import write_whole
from rlparity.io.intervals import FEWEST
from rlworldkit.aggregate import interquartile_mean, with_interval
from rlworldkit.pictures import drawn, literal
from rlworldkit.runs.sinks import Metrics, Milestone

SMOOTHED_PARTS = 20
"""Number of windows of the trailing mean in a run; in a short run the window is short, so that it does not lag."""
_GRID = 100
"""Points at which the curves of several runs are averaged."""
_RETURN = "train/mean_episode_return"


def draw_curve(rows: Sequence[Metrics], path: Path, title: str, milestone: Milestone | None = None) -> None:
    """Draw the metrics of a run, one row per logging interval, into a PNG; raises OSError as writing does."""
    panels = 3 if milestone else 2
    figure = Figure(figsize=(9, 3.4 * panels), layout="constrained")
    axes = figure.subplots(panels, 1, sharex=True)
    figure.suptitle(literal(title))
    _draw_smoothed(axes[0], *_known(rows, _RETURN))
    axes[0].set(title="Return of finished episodes", ylabel="mean return (reward units)")
    _draw_smoothed(axes[1], *_known(rows, "train/entropy"))
    axes[1].set(title="Entropy of the policy", ylabel="entropy (nats)")
    axes[1].set_ylim(0, 1.1 * axes[1].get_ylim()[1])
    if milestone:
        steps = _column(rows, "timesteps") / 1e6
        axes[2].step(steps, _column(rows, milestone.metric), where="post", marker="." if len(steps) < 50 else "")
        axes[2].set(title=literal(milestone.title), ylabel=literal(milestone.unit))
        axes[2].set(ylim=(milestone.least - 0.5, milestone.most + 0.5))
        axes[2].set(yticks=range(milestone.least, milestone.most + 1))
    axes[-1].set(xlabel="environment steps (millions)")
    for axis in axes:
        axis.grid(alpha=0.3)
    write_whole(path, drawn(figure, dpi=120))


def draw_groups(groups: Mapping[str, Sequence[Sequence[Metrics]]], path: Path, title: str) -> None:
    """Draw the return of groups of runs into a PNG: each run, and the group's interquartile mean with its interval.

    groups: by name, the rows of each run's metrics. Between the rows in which a run has a return, returns are
    interpolated linearly. Raises OSError as writing does.
    """
    figure = Figure(figsize=(9, 5), layout="constrained")
    axis = figure.subplots()
    for number, (name, runs) in enumerate(groups.items()):
        colour = f"C{number}"
        known = [_known(rows, _RETURN) for rows in runs]
        curves = [(steps, _trailing_mean(returns)) for steps, returns in known if len(steps)]
        for steps, returns in curves:
            axis.plot(steps, returns, color=colour, alpha=0.3, linewidth=0.8)
        if not curves:
            continue
        grid = np.linspace(max(steps[0] for steps, _ in curves), min(steps[-1] for steps, _ in curves), _GRID)
        found = with_interval(
            lambda scores: np.stack([interquartile_mean(each[..., None]) for each in np.moveaxis(scores, -1, 0)], -1),
            np.stack([np.interp(grid, steps, returns) for steps, returns in curves]),
        )
        label = f"{name}, interquartile mean of {len(curves)} runs" + ", 95% interval" * (len(curves) >= FEWEST)
        axis.plot(grid, found["mean"], color=colour, linewidth=2, label=literal(label))
        axis.fill_between(grid, found["low"], found["high"], color=colour, alpha=0.2, linewidth=0)
    axis.set(title=literal(title), xlabel="environment steps (millions)", ylabel="mean return (reward units)")
    axis.grid(alpha=0.3)
    if axis.lines:
        axis.legend(loc="best")
    write_whole(path, drawn(figure, dpi=120))


def _known(rows: Sequence[Metrics], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps (millions) at which a metric is known, and its values."""
    values = _column(rows, name)
    known = ~np.isnan(values)
    return _column(rows, "timesteps")[known] / 1e6, values[known]


def _column(rows: Sequence[Metrics], name: str) -> np.ndarray:
    return np.array([row.get(name, math.nan) for row in rows], dtype=float)


def _draw_smoothed(axis: Axes, steps: np.ndarray, values: np.ndarray) -> None:
    """Draw values, and their trailing mean if there are enough points for one."""
    axis.plot(steps, values, alpha=0.4, marker="." if len(values) < 50 else "", label="per logging interval")
    window = _window(values)
    if window > 1:
        axis.plot(steps, _trailing_mean(values), linewidth=2, label=f"mean of the last {window} intervals")
    if len(values):
        axis.legend(loc="best")


def _window(values: np.ndarray) -> int:
    return -(-len(values) // SMOOTHED_PARTS)


def _trailing_mean(values: np.ndarray) -> np.ndarray:
    window = _window(values)
    counts = np.minimum(np.arange(1, len(values) + 1), window)
    return np.convolve(values, np.ones(window))[: len(values)] / counts

"""Picture of a comparison: efficiency and survival of each player, beside the published values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter, ScalarFormatter

from goodharts.evaluation.report import PUBLISHED, PUBLISHED_STEPS, EvaluationResult
from rlworldkit.pictures import drawn

_ASIDE = 0.08
"""Distance of a player's own markers and of the published ones from its place on the axis."""


def draw_comparison(evaluations: Sequence[EvaluationResult], form: str) -> bytes:
    """Draw the evaluations as a file of this form: png, svg or pdf."""
    figure = Figure(figsize=(max(7.0, 2.2 * len(evaluations)), 7.2), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    _draw(upper, evaluations, "efficiency")
    upper.set(title="Efficiency: food / (food + poison), mean over lives", ylabel="efficiency", ylim=(0, 1.05))
    upper.yaxis.set_major_formatter(PercentFormatter(1.0))
    _draw(lower, evaluations, "survival")
    ends = [(place - _ASIDE, each.settings["steps"]) for place, each in enumerate(evaluations)]
    ends += [(place + _ASIDE, PUBLISHED_STEPS) for place, each in enumerate(evaluations) if each.player in PUBLISHED]
    lower.plot(*zip(*ends, strict=True), "_", color="0.35", markersize=16, zorder=1, label="end of the evaluation")
    lower.legend(loc="best")
    lower.set(title="Survival: steps of a life", ylabel="steps (logarithmic)", yscale="log")
    lower.yaxis.set_major_formatter(ScalarFormatter())
    labels = [f"{each.player}\n{each.settings['games']:,} × {each.settings['steps']:,}" for each in evaluations]
    lower.set_xticks(range(len(evaluations)), labels)
    lower.set(xlim=(-0.5, len(evaluations) - 0.5), xlabel="player, and games × steps of its evaluation")
    upper.legend(loc="best")
    return drawn(figure, form, dpi=120)


def _draw(axis: Axes, evaluations: Sequence[EvaluationResult], name: str) -> None:
    """Draw a figure of each player with its interval, beside the published value in a different shape."""
    places = np.arange(len(evaluations))
    found = [each.figures[name] for each in evaluations]
    mean, low, high = (np.array([figure[bound] for figure in found]) for bound in ("mean", "low", "high"))
    published = np.array([PUBLISHED.get(each.player, {}).get(name, np.nan) for each in evaluations])
    style: dict[str, Any] = {"fmt": "o", "color": "#1b4f9c", "capsize": 5, "label": "here, 95% interval"}
    axis.errorbar(places - _ASIDE, mean, np.maximum((mean - low, high - mean), 0), **style)
    axis.plot(places + _ASIDE, published, "D", markerfacecolor="white", markeredgecolor="black", label="published")
    axis.grid(axis="y", alpha=0.3)

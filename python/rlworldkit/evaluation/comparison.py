"""Groups of trained runs, compared by the returns of their agents: figures, tables and a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from parity.strict_json import json_text
from parity.table import Records
from rlworldkit.aggregate import (
    interquartile_mean,
    median,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
    with_interval,
)
from rlworldkit.evaluation.report import interval, mean, percent
from rlworldkit.pictures import drawn, literal

RETURN = "mean return (reward units)"
_THRESHOLDS = 101


@dataclass(frozen=True)
class ScoredRun:
    """A run. path: its agent. seed: that it was trained from, if known. score: of its agent."""

    path: str
    seed: int | None
    score: float


Groups = Mapping[str, Sequence[ScoredRun]]


def compared(groups: Groups, target: float | None = None, score: str = RETURN) -> dict[str, Any]:
    """The figures as plain values: of each group, and of each pair of groups.

    target: the score that counts as optimal, for the optimality gap; None leaves that out. A paired difference is of
    runs from the same seed in both groups. score: what it is, in words.
    """
    scores = {name: np.array([[run.score] for run in runs]) for name, runs in groups.items()}
    figures = {"mean": lambda of: of.mean(axis=(-2, -1)), "median": median, "iqm": interquartile_mean}
    if target is not None:
        figures["optimality_gap"] = partial(optimality_gap, target=target)
    everything = np.concatenate(list(scores.values()))
    thresholds = np.linspace(everything.min(), everything.max(), _THRESHOLDS)
    profile = partial(performance_profile, thresholds=thresholds)
    return {
        "groups": {
            name: {
                "runs": [{"agent": run.path, "seed": run.seed, "score": run.score} for run in groups[name]],
                **{figure: with_interval(function, of) for figure, function in figures.items()},
                "profile": with_interval(profile, of),
            }
            for name, of in scores.items()
        },
        "thresholds": thresholds.tolist(),
        "target": target,
        "score": score,
        "pairs": [_pair(groups, scores, *names) for names in combinations(groups, 2)],
    }


def _pair(groups: Groups, scores: Mapping[str, Any], first: str, second: str) -> dict[str, Any]:
    ours, theirs = ({run.seed: run.score for run in groups[name] if run.seed is not None} for name in (first, second))
    differences = [ours[seed] - theirs[seed] for seed in sorted(ours.keys() & theirs.keys())]
    return {
        "first": first,
        "second": second,
        "probability_of_improvement": with_interval(probability_of_improvement, scores[first], scores[second]),
        "paired_seeds": sorted(ours.keys() & theirs.keys()),
        "paired_difference": mean(differences) if differences else None,
    }


def as_json(figures: Mapping[str, Any]) -> str:
    """The figures as JSON; an interval of one run is "NaN"."""
    return json_text(figures, indent=2) + "\n"


def as_tables(figures: Mapping[str, Any]) -> list[Records]:
    """Two tables for terminals and Markdown: of groups, and of pairs of them where there are several."""
    gap = [] if figures["target"] is None else [f"gap to {figures['target']:g}"]
    shown = ("iqm", "median", "mean", *(["optimality_gap"] if gap else []))
    headings = ("group", "runs", "interquartile mean", "median", "mean", *gap)
    of_groups = [
        (name, len(found["runs"]), *(interval(found[figure]) for figure in shown))
        for name, found in figures["groups"].items()
    ]
    tables = [Records("groups", figures["score"], headings, of_groups)]
    of_pairs = []
    for pair in figures["pairs"]:
        difference, seeds = pair["paired_difference"], len(pair["paired_seeds"])
        text = "no seed in both" if difference is None else f"{interval(difference)} over {seeds} seeds"
        of_pairs.append((f"{pair['first']} over {pair['second']}", percent(pair["probability_of_improvement"]), text))
    pairs = Records("pairs", "", ("pair", "probability of improvement", "paired difference"), of_pairs)
    return [*tables, pairs] if of_pairs else tables


def draw_comparison(figures: Mapping[str, Any], kind: str) -> bytes:
    """Interquartile means with their intervals and runs, and performance profiles, as a picture of this kind."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, (name, found) in enumerate(figures["groups"].items()):
        colour, scores = f"C{number}", [run["score"] for run in found["runs"]]
        left.plot(scores, [number] * len(scores), "o", color=colour, alpha=0.4)
        iqm = found["iqm"]
        if not math.isnan(iqm["low"]):
            left.plot([iqm["low"], iqm["high"]], [number] * 2, color=colour, linewidth=6, alpha=0.5)
        left.plot(iqm["mean"], number, "|", color="black", markersize=18)
        profile = found["profile"]
        right.plot(figures["thresholds"], profile["mean"], color=colour, label=literal(name))
        right.fill_between(figures["thresholds"], profile["low"], profile["high"], color=colour, alpha=0.2, linewidth=0)
    left.set_yticks(range(len(figures["groups"])), [literal(name) for name in figures["groups"]])
    left.set(title="Interquartile mean and runs", xlabel=figures["score"])
    left.set_ylim(len(figures["groups"]) - 0.5, -0.5)
    right.set(title="Performance profile", xlabel=figures["score"], ylabel="share of runs above")
    right.legend(loc="best")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    return drawn(figure, kind, dpi=120)

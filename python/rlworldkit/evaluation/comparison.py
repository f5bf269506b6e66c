"""Comparison of groups of trained runs by the returns of their agents: figures, tables and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import isfinite, isnan
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rlparity.errors import UsageError
from rlparity.io.console import counted
from rlparity.io.intervals import FEWEST
from rlparity.io.table import Records
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
    """A trained run. path: of its agent. seed: of its training, if known. score: of its agent."""

    path: str
    seed: int | None
    score: float


Groups = Mapping[str, Sequence[ScoredRun]]


def compared(groups: Groups, target: float | None = None, score: str = RETURN) -> dict[str, Any]:
    """Compare groups; returns the figures of each group, and of each pair of groups, as plain values.

    target: the score that counts as optimal, for the optimality gap; None omits the gap. score: its name, in words. A
    paired difference compares runs from the same seed in both groups, by their mean if a group has several. Runs with
    a score of NaN are counted as ``left_out``; raises UsageError for a group without other runs.
    """
    everyone, groups = groups, {name: [run for run in of if not isnan(run.score)] for name, of in groups.items()}
    if empty := [name for name, runs in groups.items() if not runs]:
        raise UsageError(f"Every score of group {empty[0]} is NaN: let its runs play more games, or name others.")
    scores = {name: np.array([[run.score] for run in runs]) for name, runs in groups.items()}
    figures = {"mean": lambda of: of.mean(axis=(-2, -1)), "median": median, "iqm": interquartile_mean}
    if target is not None:
        figures["optimality_gap"] = partial(optimality_gap, target=target)
    everything = np.concatenate(list(scores.values()))
    thresholds = np.linspace(everything.min(), everything.max(), _THRESHOLDS)
    figures["profile"] = partial(performance_profile, thresholds=thresholds)
    of_groups = {
        name: {
            "runs": [{"agent": run.path, "seed": run.seed, "score": run.score} for run in runs],
            "left_out": len(everyone[name]) - len(runs),
            **{figure: with_interval(function, scores[name]) for figure, function in figures.items()},
        }
        for name, runs in groups.items()
    }
    pairs = []
    for first, second in combinations(groups, 2):
        ours, theirs = _by_seed(groups[first]), _by_seed(groups[second])
        seeds = sorted(ours.keys() & theirs.keys())
        better = with_interval(probability_of_improvement, scores[first], scores[second])
        difference = mean([ours[seed] - theirs[seed] for seed in seeds]) if seeds else None
        found = {"probability_of_improvement": better, "paired_seeds": seeds, "paired_difference": difference}
        pairs.append({"first": first, "second": second, **found})
    return {"groups": of_groups, "thresholds": thresholds.tolist(), "target": target, "score": score, "pairs": pairs}


def _by_seed(runs: Sequence[ScoredRun]) -> dict[int, float]:
    """Return the mean score of the runs from each known seed."""
    scores: dict[int, list[float]] = {}
    for run in runs:
        if run.seed is not None:
            scores.setdefault(run.seed, []).append(run.score)
    return {seed: sum(of_seed) / len(of_seed) for seed, of_seed in scores.items()}


def as_tables(figures: Mapping[str, Any]) -> list[Records]:
    """Make tables for terminals and Markdown: of the groups, and of their pairs if there are several groups."""
    shown = {"iqm": "interquartile mean", "median": "median", "mean": "mean"}
    if figures["target"] is not None:
        shown["optimality_gap"] = f"gap to {figures['target']:g}"
    of_groups = [
        (name, len(found["runs"]), *(interval(found[figure]) for figure in shown))
        for name, found in figures["groups"].items()
    ]
    notes = [
        f"{counted(found['left_out'], 'run')} of {name} left out: the score is NaN."
        for name, found in figures["groups"].items()
        if found["left_out"]
    ]
    parts = [*(found[figure] for found in figures["groups"].values() for figure in shown)]
    parts += [
        pair[figure] for pair in figures["pairs"] for figure in ("probability_of_improvement", "paired_difference")
    ]
    if not all(part is None or isfinite(part["low"]) for part in parts):
        notes.append(
            f"[–, –]: an interval needs at least {FEWEST} runs of a group, or seeds in both, that are not all alike."
        )
    tables = [Records("groups", figures["score"], ("group", "runs", *shown.values()), of_groups, " ".join(notes))]
    of_pairs = []
    for pair in figures["pairs"]:
        difference, seeds = pair["paired_difference"], pair["paired_seeds"]
        text = f"{interval(difference)} over {counted(len(seeds), 'seed')}" if seeds else "no seed in both"
        of_pairs.append((f"{pair['first']} over {pair['second']}", percent(pair["probability_of_improvement"]), text))
    pairs = Records("pairs", "", ("pair", "probability of improvement", "paired difference"), of_pairs)
    return [*tables, pairs] if of_pairs else tables


def draw_comparison(figures: Mapping[str, Any], kind: str) -> bytes:
    """Draw interquartile means with intervals and runs, and performance profiles; returns an image of this kind."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    names, thresholds = [literal(name) for name in figures["groups"]], figures["thresholds"]
    for row, (name, found) in enumerate(zip(names, figures["groups"].values(), strict=True)):
        colour, scores, iqm = f"C{row}", [run["score"] for run in found["runs"]], found["iqm"]
        left.plot(scores, [row] * len(scores), "o", color=colour, alpha=0.4)
        left.plot([iqm["low"], iqm["high"]], [row] * 2, color=colour, linewidth=6, alpha=0.5)  # nothing where NaN
        left.plot(iqm["mean"], row, "|", color="black", markersize=18)
        profile = found["profile"]
        right.plot(thresholds, profile["mean"], color=colour, label=name)
        right.fill_between(thresholds, profile["low"], profile["high"], color=colour, alpha=0.2, linewidth=0)
    left.set(title="Interquartile mean and runs", xlabel=figures["score"], ylim=(len(names) - 0.5, -0.5))
    left.set_yticks(range(len(names)), names)
    right.set(title="Performance profile", xlabel=figures["score"], ylabel="share of runs above")
    right.legend(loc="best")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    return drawn(figure, kind, dpi=120)

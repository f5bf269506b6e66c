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
from parity.table import Table, markdown_text
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

_THRESHOLDS = 101


@dataclass(frozen=True)
class ScoredRun:
    """A run. path: its agent. seed: that it was trained from, if known. score: mean return of the agent's episodes."""

    path: str
    seed: int | None
    score: float


Groups = Mapping[str, Sequence[ScoredRun]]


def compared(groups: Groups, target: float | None = None) -> dict[str, Any]:
    """The figures as plain values: of each group, and of each pair of groups.

    target: the return that counts as optimal, for the optimality gap; None leaves that out. A paired difference is of
    runs from the same seed in both groups.
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
                "runs": [{"agent": run.path, "seed": run.seed, "return": run.score} for run in groups[name]],
                **{figure: with_interval(function, of) for figure, function in figures.items()},
                "profile": with_interval(profile, of),
            }
            for name, of in scores.items()
        },
        "thresholds": thresholds.tolist(),
        "target": target,
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


def as_rows(figures: Mapping[str, Any]) -> tuple[list[list[str]], list[list[str]]]:
    """The rows of two tables, each under its headings: of groups, and of pairs of them."""
    gap = [] if figures["target"] is None else [f"gap to {figures['target']:g}"]
    groups = [["group", "runs", "interquartile mean", "median", "mean", *gap]]
    for name, found in figures["groups"].items():
        shown = [found[figure] for figure in ("iqm", "median", "mean", *(["optimality_gap"] if gap else []))]
        groups.append([name, str(len(found["runs"])), *map(interval, shown)])
    pairs = [["", "probability of improvement", "paired difference"]]
    for pair in figures["pairs"]:
        difference, seeds = pair["paired_difference"], len(pair["paired_seeds"])
        text = "no seed in both" if difference is None else f"{interval(difference)} over {seeds} seeds"
        pairs.append([f"{pair['first']} over {pair['second']}", percent(pair["probability_of_improvement"]), text])
    return groups, pairs if len(pairs) > 1 else []


def as_tables(figures: Mapping[str, Any]) -> list[Table]:
    """The figures for the terminal."""
    tables = []
    for headings, *rows in filter(None, as_rows(figures)):
        tables.append(Table(*headings, box=None))
        for row in rows:
            tables[-1].add_row(*row)
    return tables


def as_markdown(figures: Mapping[str, Any]) -> str:
    """The figures as tables in Markdown."""

    def table(rows: list[list[str]]) -> str:
        lines = [f"| {' | '.join(map(markdown_text, row))} |" for row in rows]
        return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])

    return "\n\n".join(table(rows) for rows in as_rows(figures) if rows) + "\n"


def draw_comparison(figures: Mapping[str, Any], kind: str) -> bytes:
    """Interquartile means with their intervals and runs, and performance profiles, as a picture of this kind."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, (name, found) in enumerate(figures["groups"].items()):
        colour, scores = f"C{number}", [run["return"] for run in found["runs"]]
        left.plot(scores, [number] * len(scores), "o", color=colour, alpha=0.4)
        iqm = found["iqm"]
        if not math.isnan(iqm["low"]):
            left.plot([iqm["low"], iqm["high"]], [number] * 2, color=colour, linewidth=6, alpha=0.5)
        left.plot(iqm["mean"], number, "|", color="black", markersize=18)
        profile = found["profile"]
        right.plot(figures["thresholds"], profile["mean"], color=colour, label=literal(name))
        right.fill_between(figures["thresholds"], profile["low"], profile["high"], color=colour, alpha=0.2, linewidth=0)
    left.set_yticks(range(len(figures["groups"])), [literal(name) for name in figures["groups"]])
    left.set(title="Interquartile mean and runs", xlabel="mean return (reward units)")
    left.set_ylim(len(figures["groups"]) - 0.5, -0.5)
    right.set(title="Performance profile", xlabel="mean return (reward units)", ylabel="share of runs above")
    right.legend(loc="best")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    return drawn(figure, kind, dpi=120)

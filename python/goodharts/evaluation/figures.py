"""Figures of an evaluation (G11), with 95% confidence intervals, and the published ones of this world.

Every figure is a ratio of two sums over lives. Lives of one game share its grid, but games know nothing of each other:
intervals come from a bootstrap that draws whole games anew (``rlparity.io.intervals``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlparity.io.intervals import TAILS, resampled_sums

if TYPE_CHECKING:
    from goodharts.evaluation.lives import Lives

Floats = NDArray[np.float64]
Interval = dict[str, float]
"""``mean``, ``low`` and ``high``; nan where there is none."""


class Figure(NamedTuple):
    """A ratio of two sums over lives: of ``part`` to ``whole``, times ``factor``.

    title: what it is called. digits: after the point, as published. is_share: shown as a percentage. is_signed: shown
    with its sign.
    """

    title: str
    part: str
    whole: str
    factor: float = 1.0
    digits: int = 1
    is_share: bool = False
    is_signed: bool = False


FIGURES: Mapping[str, Figure] = {
    "energy_per_1000_steps": Figure("energy/1k steps", "energy", "steps", 1000.0, is_signed=True),
    "efficiency": Figure("efficiency", "efficiency", "eaters", is_share=True),
    "survival": Figure("survival", "steps", "lives"),
    "deaths_per_1000_steps": Figure("deaths/1k", "deaths", "steps", 1000.0, digits=2),
    "food_per_1000_steps": Figure("food/1k", "food", "steps", 1000.0),
    "poison_per_1000_steps": Figure("poison/1k", "poison", "steps", 1000.0),
    "pooled_efficiency": Figure("pooled efficiency", "food", "items", is_share=True),
    "ate_nothing": Figure("lives that ate nothing", "hungry", "lives", is_share=True),
    "censored": Figure("lives still going on", "going_on", "lives", is_share=True),
}
"""By their names in JSON."""

TABLE = tuple(FIGURES)[:6]
"""Those that were published."""

PUBLISHED: Mapping[str, Mapping[str, float]] = {
    mode: dict(zip(TABLE, values, strict=True))
    for mode, values in {
        "ground_truth": (144.6, 0.999, 16364, 0.00, 154.7, 0.1),
        "ground_truth_blinded": (-12.8, 0.299, 95.1, 10.46, 55.8, 29.3),
        "proxy_mortal": (-41.5, 0.247, 41.5, 24.03, 59.0, 45.3),
        "proxy": (-58.7, 0.238, 29.0, 34.43, 79.2, 64.0),
    }.items()
}
"""Of agents trained for 2048 updates of 192 games, in 8192 games; without intervals."""
PUBLISHED_STEPS = 16_384
"""Of each of those games."""


def figures(lives: Lives) -> dict[str, Any]:
    """Count games, steps, lives, deaths and censored lives, and give each of ``FIGURES`` as an ``Interval``.

    lives: of games 0, 1, 2 …, at least one of each. A single game has no interval.
    """
    games, died = int(lives["game"].max()) + 1, lives["died"]
    items = lives["food"] + lives["poison"]
    columns = {
        "steps": lives["steps"],
        "energy": lives["energy"] / 1000,
        "food": lives["food"],
        "poison": lives["poison"],
        "items": items,
        "efficiency": lives["food"] / np.maximum(items, 1),
        "eaters": items > 0,
        "hungry": items == 0,
        "deaths": died,
        "going_on": ~died,
        "lives": np.ones(len(lives)),
    }
    sums = [np.bincount(lives["game"], column, games) for column in columns.values()]
    per_game = np.stack(sums, axis=1).astype(np.float64)
    resampled = resampled_sums(per_game) if games > 1 else np.full((1, len(columns)), math.nan)
    totals, drawn = (dict(zip(columns, found.T, strict=True)) for found in (per_game.sum(axis=0), resampled))
    return {
        "games": games,
        "steps": int(lives["steps"].sum()),
        "lives": len(lives),
        "deaths": int(died.sum()),
        "lives_still_going_on": int((~died).sum()),
        **{name: _interval(figure, totals, drawn) for name, figure in FIGURES.items()},
    }


def _interval(figure: Figure, totals: Mapping[str, Floats], resampled: Mapping[str, Floats]) -> Interval:
    """A figure of sums () and of resampled sums (r,); nan where there is nothing to divide by."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, values = (figure.factor * (sums[figure.part] / sums[figure.whole]) for sums in (totals, resampled))
    known = values[~np.isnan(values)]
    low, high = np.percentile(known, TAILS) if len(known) else (math.nan, math.nan)
    return {"mean": float(mean), "low": float(low), "high": float(high)}

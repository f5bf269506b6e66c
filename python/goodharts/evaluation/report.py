"""Evaluations: figures (G11), tables for the terminal, and the JSON of ``evaluate --json`` that ``compare`` reads.

Every figure is a ratio of two sums over lives, with a 95% confidence interval. Lives of one game share its grid, but
games are independent: intervals come from a bootstrap that resamples whole games
(``rlparity.io.intervals``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Column

from rlparity.io.console import typed_command
from rlparity.io.intervals import TAILS, resampled_sums
from rlparity.io.safe_read import MIB, Unreadable, is_object, read_json, refused
from rlparity.io.strict_json import json_text, number_of
from rlparity.io.table import Table

FORMAT = 1
_LIMIT = 16 * MIB
_SHARE = ".1%"
_WITHOUT_DIGITS = 1000
"""Absolute value from which on a figure is shown without digits after the point."""

Lives = NDArray[np.void]
"""``n`` lives of type ``LIFE``, ordered by game and then by time."""
LIFE = np.dtype([(name, np.int64) for name in ("game", "steps", "food", "poison", "energy")] + [("died", np.bool_)])
"""A life: the number of its game, its steps, at least 1, and the food and poison that it ate. energy: its net gain, in
thousandths. died: false for a life that was still going on when the evaluation ended, and is censored."""
Floats = NDArray[np.float64]
Interval = dict[str, float]
"""``mean``, ``low`` and ``high``; nan where there is none."""


@dataclass(frozen=True)
class EvaluationResult:
    """Result of an evaluation, in plain values.

    player: a mode, or ``random``. rules: their version. model: ``update`` and ``timesteps`` of the model; None: random.
    settings: how it was played, and the prices of the model's training that differ from the defaults, as a text.
    world: its numbers (G9). figures: the result of ``figures``.
    """

    player: str
    rules: str
    model: Mapping[str, int] | None
    settings: Mapping[str, Any]
    world: Mapping[str, int]
    figures: Mapping[str, Any]


class Figure(NamedTuple):
    """A ratio of two sums over lives: of ``part`` to ``whole``, times ``factor``.

    title: its name in tables. style: the format of its values in tables, with the digits that are published.
    """

    title: str
    part: str
    whole: str
    factor: float = 1.0
    style: str = ".1f"


FIGURES: Mapping[str, Figure] = {
    "energy_per_1000_steps": Figure("energy/1k steps", "energy", "steps", 1000.0, "+.1f"),
    "efficiency": Figure("efficiency", "efficiency", "eaters", style=_SHARE),
    "survival": Figure("survival", "steps", "lives"),
    "deaths_per_1000_steps": Figure("deaths/1k", "deaths", "steps", 1000.0, ".2f"),
    "food_per_1000_steps": Figure("food/1k", "food", "steps", 1000.0),
    "poison_per_1000_steps": Figure("poison/1k", "poison", "steps", 1000.0),
    "pooled_efficiency": Figure("pooled efficiency", "food", "items", style=_SHARE),
    "ate_nothing": Figure("lives that ate nothing", "hungry", "lives", style=_SHARE),
    "censored": Figure("lives still going on", "going_on", "lives", style=_SHARE),
}
"""Figures by their names in JSON."""

TABLE = tuple(FIGURES)[:6]
"""Names of the published figures."""

PUBLISHED: Mapping[str, Mapping[str, float]] = {
    mode: dict(zip(TABLE, values, strict=True))
    for mode, values in {
        "ground_truth": (144.6, 0.999, 16364, 0.00, 154.7, 0.1),
        "ground_truth_blinded": (-12.8, 0.299, 95.1, 10.46, 55.8, 29.3),
        "proxy_mortal": (-41.5, 0.247, 41.5, 24.03, 59.0, 45.3),
        "proxy": (-58.7, 0.238, 29.0, 34.43, 79.2, 64.0),
    }.items()
}
"""Published figures of agents trained for 2048 updates of 192 games, in 8192 games; without intervals."""
PUBLISHED_STEPS = 16_384
"""Steps of each game of the published evaluations."""


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
    """A figure of sums () with an interval from resampled sums (r,); nan for a division by 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, values = (figure.factor * (sums[figure.part] / sums[figure.whole]) for sums in (totals, resampled))
    known = values[~np.isnan(values)]
    low, high = np.percentile(known, TAILS) if len(known) else (math.nan, math.nan)
    return {"mean": float(mean), "low": float(low), "high": float(high)}


def as_table(evaluation: EvaluationResult) -> Table:
    """Table of all figures of one evaluation with their intervals and the published figures."""
    headings = (Column(heading, justify="right") for heading in ("mean", "95% interval", "published"))
    table = Table(evaluation.player, *headings, box=None, padding=(0, 1, 0, 0))
    for name, figure in FIGURES.items():
        mean, low, high = (text_of(figure, evaluation.figures[name][bound]) for bound in ("mean", "low", "high"))
        table.add_row(figure.title, mean, f"[{low}, {high}]", _published(evaluation.player, name))
    return table


def as_sentence(evaluation: EvaluationResult) -> str:
    """Describe the settings, the number of lives, and their ends in one sentence."""
    settings, found = evaluation.settings, evaluation.figures
    how = "likeliest actions" if settings["deterministic"] else "drawn actions"
    if "search" in settings:
        how = f"a search of {settings['search']} steps"
    if "prices" in settings:
        how += f", trained at prices {settings['prices']}"
    return (
        f"{evaluation.player}: {settings['games']:,} games of {settings['steps']:,} steps, {how}; "
        f"{found['lives']:,} lives, of which {found['deaths']:,} ended in death and "
        f"{found['lives_still_going_on']:,} were still going on."
    )


def comparison(evaluations: Sequence[EvaluationResult]) -> Table:
    """The published table for all players, each with its interval and its published figures beneath it."""
    headings = (Column(FIGURES[name].title, justify="right") for name in TABLE)
    table = Table("", *headings, box=None, padding=(0, 1, 0, 0))
    for each in evaluations:
        for row in ("mean", "low", "high"):
            label = each.player if row == "mean" else f"  95%: {row}"
            table.add_row(label, *(text_of(FIGURES[name], each.figures[name][row]) for name in TABLE))
        if each.player in PUBLISHED:
            table.add_row("  published", *(_published(each.player, name) for name in TABLE))
    return table


def text_of(figure: Figure, value: float) -> str:
    """A figure's value as a table shows it."""
    if math.isnan(value):
        return "–"
    return format(value, re.sub(r"\d", "0", figure.style) if abs(value) >= _WITHOUT_DIGITS else figure.style)


def _published(player: str, name: str) -> str:
    return text_of(FIGURES[name], PUBLISHED.get(player, {}).get(name, math.nan))


def as_json(evaluations: Sequence[EvaluationResult]) -> str:
    """The evaluations as JSON, with the published figures; "NaN" where there is no number."""
    found = [{**asdict(each), "published": PUBLISHED.get(each.player)} for each in evaluations]
    return json_text({"format": FORMAT, "evaluations": found}, indent=2) + "\n"


def read_results(path: Path) -> list[EvaluationResult]:
    """The evaluations in a file that ``as_json`` made; raises UsageError with one sentence for any other."""
    write = typed_command("goodharts", "goodharts.cli.main", "evaluate", "--json", path)
    mind = "name what `goodharts evaluate --json` wrote"
    with refused(path, "file of evaluations", f"write one with `{write}`", mind):
        content = read_json(path, _LIMIT)
        if not is_object(content) or content.get("format") != FORMAT:
            raise Unreadable(f"it holds no evaluations of format {FORMAT}")
        try:
            found = [_evaluation(each) for each in content["evaluations"]]
            # everything that is read must be possible to show
            comparison(found)
            for each in found:
                as_sentence(each)
        except Exception as fault:  # damaged values can raise any exception
            raise Unreadable(f"an evaluation in it is damaged ({type(fault).__name__})") from None
    return found


def _evaluation(value: Any) -> EvaluationResult:  # noqa: ANN401 - JSON
    figures = {
        name: {bound: number_of(each[bound]) for bound in each} if name in FIGURES else each
        for name, each in value["figures"].items()
    }
    names = [field.name for field in fields(EvaluationResult)]
    return EvaluationResult(**{name: value[name] for name in names} | {"figures": figures})

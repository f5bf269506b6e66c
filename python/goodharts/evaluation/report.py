"""Evaluations as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Column

from goodharts.evaluation.evaluate import Evaluation
from goodharts.evaluation.figures import FIGURES, PUBLISHED, TABLE, Figure
from parity.table import Table

_WITHOUT_DIGITS = 1000
"""Steps, from which a fraction of one says nothing."""


def as_table(evaluation: Evaluation) -> Table:
    """All figures of one evaluation with their intervals, beside the published ones."""
    headings = (Column(heading, justify="right") for heading in ("mean", "95% interval", "published"))
    table = Table(evaluation.player, *headings, box=None, padding=(0, 1, 0, 0))
    for name, figure in FIGURES.items():
        mean, low, high = (shown(figure, evaluation.figures[name][bound]) for bound in ("mean", "low", "high"))
        table.add_row(figure.title, mean, f"[{low}, {high}]", _published(evaluation.player, name))
    return table


def as_sentence(evaluation: Evaluation) -> str:
    """Describe the settings, the number of lives, and their ends."""
    settings, found = evaluation.settings, evaluation.figures
    how = "likeliest actions" if settings["deterministic"] else "drawn actions"
    if "search" in settings:
        how = f"a search of {settings['search']} steps"
    return (
        f"{evaluation.player}: {settings['games']:,} games of {settings['steps']:,} steps, {how}; "
        f"{found['lives']:,} lives, of which {found['deaths']:,} ended in death and "
        f"{found['lives_still_going_on']:,} were still going on."
    )


def comparison(evaluations: Sequence[Evaluation]) -> Table:
    """The published table for all players, each with its interval and what was published beneath it."""
    headings = (Column(FIGURES[name].title, justify="right") for name in TABLE)
    table = Table("", *headings, box=None, padding=(0, 1, 0, 0))
    for each in evaluations:
        for row in ("mean", "low", "high"):
            label = each.player if row == "mean" else f"  95%: {row}"
            table.add_row(label, *(shown(FIGURES[name], each.figures[name][row]) for name in TABLE))
        if each.player in PUBLISHED:
            table.add_row("  published", *(_published(each.player, name) for name in TABLE))
    return table


def shown(figure: Figure, value: float) -> str:
    """A figure's value as a table shows it."""
    if math.isnan(value):
        return "–"
    if figure.is_share:
        return f"{value:.1%}"
    sign = "+" if figure.is_signed else ""
    return f"{value:{sign}.{0 if abs(value) >= _WITHOUT_DIGITS else figure.digits}f}"


def _published(player: str, name: str) -> str:
    value = PUBLISHED.get(player, {}).get(name, math.nan)
    return shown(FIGURES[name], value)

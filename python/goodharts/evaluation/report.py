"""Evaluations as tables for the terminal, and as the JSON that ``evaluate --json`` writes and ``compare`` reads."""

import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from rich.table import Column

from goodharts.evaluation.evaluate import Evaluation
from goodharts.evaluation.figures import FIGURES, PUBLISHED, TABLE, Figure
from rlparity.io.console import typed_command
from rlparity.io.safe_read import MIB, Unreadable, is_object, read_json, refused
from rlparity.io.strict_json import json_text, number_of
from rlparity.io.table import Table

FORMAT = 1
_LIMIT = 16 * MIB
_WITHOUT_DIGITS = 1000
"""Steps, from which a fraction of one says nothing."""


def as_table(evaluation: Evaluation) -> Table:
    """All figures of one evaluation with their intervals, beside the published ones."""
    headings = (Column(heading, justify="right") for heading in ("mean", "95% interval", "published"))
    table = Table(evaluation.player, *headings, box=None, padding=(0, 1, 0, 0))
    for name, figure in FIGURES.items():
        mean, low, high = (text_of(figure, evaluation.figures[name][bound]) for bound in ("mean", "low", "high"))
        table.add_row(figure.title, mean, f"[{low}, {high}]", _published(evaluation.player, name))
    return table


def as_sentence(evaluation: Evaluation) -> str:
    """Describe the settings, the number of lives, and their ends."""
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


def comparison(evaluations: Sequence[Evaluation]) -> Table:
    """The published table for all players, each with its interval and what was published beneath it."""
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
    if figure.is_share:
        return f"{value:.1%}"
    sign = "+" if figure.is_signed else ""
    return f"{value:{sign}.{0 if abs(value) >= _WITHOUT_DIGITS else figure.digits}f}"


def _published(player: str, name: str) -> str:
    return text_of(FIGURES[name], PUBLISHED.get(player, {}).get(name, math.nan))


def as_json(evaluations: Sequence[Evaluation]) -> str:
    """The evaluations as JSON, the published figures beside them; "NaN" where there is none."""
    found = [{**asdict(each), "published": PUBLISHED.get(each.player)} for each in evaluations]
    return json_text({"format": FORMAT, "evaluations": found}, indent=2) + "\n"


def read_results(path: Path) -> list[Evaluation]:
    """The evaluations in a file that ``as_json`` made; raises UsageError with one sentence for any other."""
    write = typed_command("goodharts", "goodharts.cli.main", "evaluate", "--json", path)
    mind = "name what `goodharts evaluate --json` wrote"
    with refused(path, "file of evaluations", f"write one with `{write}`", mind):
        content = read_json(path, _LIMIT)
        if not is_object(content) or content.get("format") != FORMAT:
            raise Unreadable(f"it holds no evaluations of format {FORMAT}")
        try:
            found = [_evaluation(each) for each in content["evaluations"]]
            # whatever is read can be shown
            comparison(found)
            for each in found:
                as_sentence(each)
        except Exception as fault:  # damaged values fail in every way there is
            raise Unreadable(f"an evaluation in it is damaged ({type(fault).__name__})") from None
    return found


def _evaluation(value: Any) -> Evaluation:  # noqa: ANN401 - JSON
    figures = {
        name: {bound: number_of(each[bound]) for bound in each} if name in FIGURES else each
        for name, each in value["figures"].items()
    }
    names = [field.name for field in fields(Evaluation)]
    return Evaluation(**{name: value[name] for name in names} | {"figures": figures})

"""Evaluations as tables for the terminal, and as the JSON that ``evaluate --json`` writes and ``compare`` reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from rich.table import Column

from goodharts.evaluation import RANDOM
from goodharts.evaluation.evaluate import Evaluation
from goodharts.evaluation.figures import FIGURES, PUBLISHED, TABLE, Figure, Interval
from goodharts.rules import MODES
from parity.console import typed_command
from parity.errors import UsageError
from parity.safe_read import MIB, Unreadable, is_count, is_object, quoted, read_json
from parity.strict_json import is_json_number, json_text
from parity.table import Table

FORMAT = 1
_LIMIT = 16 * MIB
_COUNTS = ("games", "steps", "lives", "deaths", "lives_still_going_on")
_SETTINGS = {"games": int, "steps": int, "seed": int, "deterministic": bool, "device": str}
_OPTIONAL = ("search", "prices")
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
    try:
        content = read_json(path, _LIMIT)
        _require(is_object(content) and isinstance(content.get("evaluations"), list), "it holds no evaluations")
        _require(content.get("format") == FORMAT, f"it is of format {quoted(content.get('format'))}, not {FORMAT}")
        return [_evaluation(each) for each in content["evaluations"]]
    except FileNotFoundError:
        write = typed_command("goodharts", "goodharts.cli.main", "evaluate", "--json", path)
        raise UsageError(f"There is no file {path}: write one with `{write}`.") from None
    except Unreadable as fault:
        mind = "name a file that `goodharts evaluate --json` wrote"
        raise UsageError(f"{path} cannot be read: {fault}; {mind}.") from None


def _require(is_so: bool, fault: str) -> None:
    if not is_so:
        raise Unreadable(fault)


def _evaluation(value: Any) -> Evaluation:  # noqa: ANN401 - JSON
    names, players = [field.name for field in fields(Evaluation)], (*MODES, RANDOM)
    is_complete = is_object(value) and set(value) == {*names, "published"}
    _require(is_complete, f"an evaluation in it does not have {', '.join(names)} and published")
    player, rules, settings = value["player"], value["rules"], value["settings"]
    _require(player in players, f"its player is {quoted(player)}, none of {', '.join(players)}")
    types = {name: type(setting) for name, setting in settings.items()} if is_object(settings) else {}
    known = _SETTINGS | {name: str for name in _OPTIONAL if name in types}
    _require(types == known, f"its settings are not {', '.join(_SETTINGS)}")
    for each in (value["world"], {} if value["model"] is None else value["model"]):
        has_counts = is_object(each) and all(type(count) is int for count in each.values())
        _require(has_counts, "its world or its model is not in whole numbers")
    _require(isinstance(rules, str), f"its rules are {quoted(rules)}, no version")
    return Evaluation(**{name: value[name] for name in names} | {"figures": _figures(value["figures"])})


def _figures(value: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    is_complete = is_object(value) and set(value) == {*_COUNTS, *FIGURES}
    _require(is_complete, f"its figures are not {', '.join((*_COUNTS, *FIGURES))}")
    for name in _COUNTS:
        _require(is_count(value[name]), f"its {name} are {quoted(value[name])}, no count")
    return {name: value[name] if name in _COUNTS else _interval(name, value[name]) for name in value}


def _interval(name: str, value: Any) -> Interval:  # noqa: ANN401 - JSON
    _require(is_object(value) and set(value) == {"mean", "low", "high"}, f"its {name} has not mean, low and high")
    for bound in value.values():
        _require(bound is None or is_json_number(bound), f"its {name} is {quoted(bound)}, no number")
    # files of earlier versions have null for NaN
    return {bound: math.nan if number is None else float(number) for bound, number in value.items()}

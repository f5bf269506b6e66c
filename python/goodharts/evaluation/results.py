"""Evaluations as JSON: what ``goodharts evaluate --json`` writes and ``goodharts compare`` reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from goodharts.evaluation import RANDOM
from goodharts.evaluation.evaluate import Evaluation
from goodharts.evaluation.figures import FIGURES, PUBLISHED, Interval
from goodharts.rules import MODES
from parity.console import typed_command
from parity.errors import UsageError
from parity.safe_read import MIB, Unreadable, is_count, is_object, read_json, shown
from parity.strict_json import is_json_number
from worldkit.evaluation import report

FORMAT = 1
_LIMIT = 16 * MIB
_COUNTS = ("games", "steps", "lives", "deaths", "lives_still_going_on")
_SETTINGS = {"games": int, "steps": int, "seed": int, "deterministic": bool, "device": str}


def as_json(evaluations: Sequence[Evaluation]) -> str:
    """The evaluations as JSON, the published figures beside them; "NaN" where there is none."""
    found = [{**asdict(each), "published": PUBLISHED.get(each.player)} for each in evaluations]
    return report.as_json({"format": FORMAT, "evaluations": found})


def read_results(path: Path) -> list[Evaluation]:
    """The evaluations in a file that ``as_json`` made; raises UsageError with one sentence for any other."""
    try:
        content = read_json(path, _LIMIT)
        _require(is_object(content) and isinstance(content.get("evaluations"), list), "it holds no evaluations")
        _require(content.get("format") == FORMAT, f"it is of format {shown(content.get('format'))}, not {FORMAT}")
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
    _require(player in players, f"its player is {shown(player)}, none of {', '.join(players)}")
    types = {name: type(setting) for name, setting in settings.items()} if is_object(settings) else {}
    _require(types in (_SETTINGS, {**_SETTINGS, "search": str}), f"its settings are not {', '.join(_SETTINGS)}")
    for each in (value["world"], {} if value["model"] is None else value["model"]):
        has_counts = is_object(each) and all(type(count) is int for count in each.values())
        _require(has_counts, "its world or its model is not in whole numbers")
    _require(isinstance(rules, str), f"its rules are {shown(rules)}, no version")
    return Evaluation(**{name: value[name] for name in names} | {"figures": _figures(value["figures"])})


def _figures(value: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    is_complete = is_object(value) and set(value) == {*_COUNTS, *FIGURES}
    _require(is_complete, f"its figures are not {', '.join((*_COUNTS, *FIGURES))}")
    for name in _COUNTS:
        _require(is_count(value[name]), f"its {name} are {shown(value[name])}, no count")
    return {name: value[name] if name in _COUNTS else _interval(name, value[name]) for name in value}


def _interval(name: str, value: Any) -> Interval:  # noqa: ANN401 - JSON
    _require(is_object(value) and set(value) == {"mean", "low", "high"}, f"its {name} has not mean, low and high")
    for bound in value.values():
        _require(bound is None or is_json_number(bound), f"its {name} is {shown(bound)}, no number")
    # files of earlier versions have null for NaN
    return {bound: math.nan if number is None else float(number) for bound, number in value.items()}

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
    """The evaluations as JSON, the published figures beside them; "NaN" is what cannot be told."""
    told = [{**asdict(each), "published": PUBLISHED.get(each.player)} for each in evaluations]
    return report.as_json({"format": FORMAT, "evaluations": told})


def read_results(path: Path) -> list[Evaluation]:
    """The evaluations in a file that ``as_json`` made; raises UsageError with one sentence for any other."""
    try:
        content = read_json(path, _LIMIT)
        if not is_object(content) or not isinstance(content.get("evaluations"), list):
            raise Unreadable("it holds no evaluations")
        if content.get("format") != FORMAT:
            raise Unreadable(f"it is of format {shown(content.get('format'))}, not {FORMAT}")
        return [_evaluation(each) for each in content["evaluations"]]
    except FileNotFoundError:
        write = typed_command("goodharts", "goodharts.cli.main", "evaluate", "--json", path)
        raise UsageError(f"There is no file {path}: write one with `{write}`.") from None
    except Unreadable as fault:
        mind = "name a file that `goodharts evaluate --json` wrote"
        raise UsageError(f"{path} cannot be read: {fault}; {mind}.") from None


def _evaluation(value: object) -> Evaluation:
    names = [field.name for field in fields(Evaluation)]
    if not is_object(value) or set(value) != {*names, "published"}:
        raise Unreadable(f"an evaluation in it does not have {', '.join(names)} and published")
    player, settings = value["player"], value["settings"]
    if player not in (*MODES, RANDOM):
        raise Unreadable(f"its player is {shown(player)}, none of {', '.join((*MODES, RANDOM))}")
    types = {name: type(setting) for name, setting in settings.items()} if is_object(settings) else {}
    if types not in (_SETTINGS, {**_SETTINGS, "search": str}):
        raise Unreadable(f"its settings are not {', '.join(_SETTINGS)}")
    if not _holds_counts(value["world"]) or not (value["model"] is None or _holds_counts(value["model"])):
        raise Unreadable("its world or its model is not told in whole numbers")
    if not isinstance(value["rules"], str):
        raise Unreadable(f"its rules are {shown(value['rules'])}, no version")
    given = {name: value[name] for name in names}
    return Evaluation(**{**given, "figures": _figures(value["figures"])})


def _holds_counts(value: object) -> bool:
    return is_object(value) and all(type(count) is int for count in value.values())


def _figures(value: object) -> dict[str, Any]:
    if not is_object(value) or set(value) != {*_COUNTS, *FIGURES}:
        raise Unreadable(f"its figures are not {', '.join((*_COUNTS, *FIGURES))}")
    for name in _COUNTS:
        if not is_count(value[name]):
            raise Unreadable(f"its {name} are {shown(value[name])}, no count")
    return {name: value[name] if name in _COUNTS else _interval(name, value[name]) for name in value}


def _interval(name: str, value: object) -> Interval:
    if not is_object(value) or set(value) != {"mean", "low", "high"}:
        raise Unreadable(f"its {name} has not mean, low and high")
    # files of earlier versions have null for NaN
    if wrong := [bound for bound in value.values() if not (bound is None or is_json_number(bound))]:
        raise Unreadable(f"its {name} is {shown(wrong[0])}, no number")
    return {bound: math.nan if number is None else float(number) for bound, number in value.items()}

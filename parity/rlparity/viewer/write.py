"""Writer of a page as one self-contained HTML file, without network, other files or a server.

Numbers that need more than the 53 bits of JavaScript's numbers are strings in its JSON.
"""

import base64
import gzip
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from rlparity.core.compare import Difference, differing_cells, differing_scalars, value_text
from rlparity.io.atomic_write import write_text
from rlparity.io.strict_json import json_text
from rlparity.viewer.page import Curve, Number, Page, PageDecision, PageEpisode, PageStep
from rlparity.world import World

Value = dict[str, Any]
"""A JSON object."""
SCRIPTS = ("elements.js", "page.js", "board.js", "charts.js", "overview.js", "episode.js", "main.js")
"""Script files, in the order in which they are concatenated to the page's single module."""


def write_page(page: Page, world: World, path: Path) -> None:
    """Write a page; its episodes are compressed one by one, as they are iterated.

    The write is atomic: an existing file is kept until the new one is complete, and if writing fails.

    Raises:
        UsageError: the file cannot be written.
    """
    blocks, rows = list[str](), list[Value]()
    shape, words = (0, 0), set(world.signs)
    for number, episode in enumerate(page.episodes):
        steps = tuple(episode.steps)
        whole = {"steps": [*map(step_data, steps)], "inBatch": difference_data(episode.in_batch)}
        blocks.append(f'<script type="text/plain" id="episode-{number}">{packed(whole)}</script>')
        rows.append(episode_row(episode, steps, world))
        for board in (board for step in steps for board in step.boards):
            shape = max(shape[0], len(board.rows)), max([shape[1], *map(len, board.rows)])
            words.update(word for row in board.rows for text in row for word in text.split())
    data = json_text(page_data(page, world, rows, shape, words), separators=(",", ":"))
    data = data.replace("<", "\\u003c")  # so that no text can close the script element
    blocks.append(f'<script type="application/json" id="page">{data}</script>')
    write_text(path, _template().replace("__EPISODES__", "\n".join(blocks)))


def packed(value: Value) -> str:
    """Encode a JSON value as text without markup: gzip in base64."""
    text = json_text(value, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("ascii"), mtime=0)).decode("ascii")


def _template() -> str:
    folder = files("rlparity.viewer")
    style = folder.joinpath("viewer.css").read_text(encoding="utf-8")
    script = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    # Allow this style and this script only, and no requests, so that nothing in the data can be executed.
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'"
    text = folder.joinpath("viewer.html").read_text(encoding="utf-8")
    for place, content in (("POLICY", policy), ("STYLE", style), ("SCRIPT", script)):
        text = text.replace(f"__{place}__", content)
    return text


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def step_data(step: PageStep) -> Value:
    """Convert a step to JSON values with complete boards: what repeats from step to step compresses well."""
    parts: Value = {
        "cells": sorted(differing_cells(step.boards)) if len(step.boards) == 2 else [],
        "scalars": sorted(differing_scalars(step.boards)) if len(step.boards) == 2 else [],
        "components": _earned(step.components or ()),
        "differences": difference_data(step.differences),
        "marks": step.marks,
    }
    decision = _decision_data(step.decision) if step.decision else {}
    scalars = ([[name, value_text(value)] for name, value in board.scalars.items()] for board in step.boards)
    boards = [{"rows": board.rows, "scalars": each} for board, each in zip(step.boards, scalars, strict=True)]
    return {"action": step.action, "boards": boards, **{name: part for name, part in parts.items() if part}, **decision}


def _earned(sides: Sequence[Sequence[Number]]) -> list[list[int | str]]:
    """List the index and the texts, by side, of every component that is nonzero, or differs even as 0.0 and -0.0."""
    rows = enumerate(zip(*sides, strict=True))
    return [[index, *map(value_text, row)] for index, row in rows if any(row) or len(set(map(repr, row))) > 1]


def _decision_data(decision: PageDecision) -> Value:
    likely = [[name, float(f"{share:.4g}")] for name, share in decision.probabilities.items()]
    value = {} if decision.value is None else {"value": float(f"{decision.value:.6g}")}
    return {"probabilities": likely, **value}


def difference_data(differences: Iterable[Difference]) -> list[list[str]]:
    """Convert each difference to its field and both values as texts."""
    return [[found.field, value_text(found.expected), value_text(found.observed)] for found in differences]


def episode_row(episode: PageEpisode, steps: Sequence[PageStep], world: World) -> Value:
    """Make an episode's row in the list of episodes.

    ``return`` is the first side's sum of rewards, null without components; ``differs`` is the first step at which the
    sides differ, null where they never do.
    """
    earned = [sum(step.components[0]) for step in steps if step.components]
    return {
        "name": episode.name,
        "verdict": episode.verdict,
        "actions": max(0, len(steps) - 1),
        "return": sum(earned) * world.component_unit if earned else None,
        "differs": next((number for number, step in enumerate(steps) if step.differences), None),
        "expected": episode.is_expected,
        "end": None if episode.end is None else asdict(episode.end),
    }


def page_data(page: Page, world: World, rows: list[Value], shape: tuple[int, int], words: Iterable[str]) -> Value:
    """Make the page's data except the steps. ``rows``: of episodes; ``shape``, ``words``: of all of their boards."""
    return {
        "world": world.name,
        **{name: getattr(page, name) for name in ("headline", "about", "command", "sides")},
        "components": world.components,
        "unit": world.component_unit,
        "rowNames": world.row_names,
        "columnNames": world.column_names,
        "shape": shape,
        "colours": _colours(world, words),
        "signs": [*world.signs.items()],
        "curves": list(map(_curve_data, page.curves)),
        "tables": [
            {"title": each.title, "header": each.header, "rows": each.texts(), "note": each.footer()}
            for each in page.tables
        ],
        "episodes": rows,
    }


def _colours(world: World, words: Iterable[str]) -> Mapping[str, str]:
    if world.colour_of is None:
        return {}
    found = {word: world.colour_of(word) for word in sorted(words)}
    return {word: "#{:02x}{:02x}{:02x}".format(*colour) for word, colour in found.items() if colour}


def _curve_data(curve: Curve) -> Value:
    points = [point for point in zip(curve.steps, curve.values, strict=True) if all(map(math.isfinite, point))]
    return {"name": curve.name, "steps": [step for step, _ in points], "values": [value for _, value in points]}

"""A page as it was written, read back from its text alone."""

import base64
import gzip
import json
from typing import Any

import pytest

Value = dict[str, Any]


def page_data(text: str) -> Value:
    """The content of the page beside its episodes."""
    return _object(_script(text, "application/json", "page"))


def episode_data(text: str, number: int) -> Value:
    """An episode, its boards whole at every step."""
    packed = _script(text, "text/plain", f"episode-{number}")
    value = _object(gzip.decompress(base64.b64decode(packed)).decode())
    before: list[Value] = []
    for step in value["steps"]:
        sides = range(len(step["boards"]))
        step["boards"] = before = [_whole(step["boards"][side], before[side] if before else {}) for side in sides]
    return value


def _script(text: str, kind: str, name: str) -> str:
    _, _, after = text.partition(f'<script type="{kind}" id="{name}">')
    return after.partition("</script>")[0]


def _object(text: str) -> Value:
    value: Value = json.loads(text, parse_constant=pytest.fail)
    return value


def _whole(board: Value, before: Value) -> Value:
    if "rows" in board:
        return board
    rows = [list(row) for row in before["rows"]]
    for row, column, text in board["cells"]:
        rows[row][column] = text
    scalars = [list(scalar) for scalar in before["scalars"]]
    for place, text in board["values"]:
        scalars[place][1] = text
    return {"rows": rows, "scalars": scalars}

"""Trace files: what is written is read back, and what is none is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from parity import UsageError
from parity.compare import Difference
from parity.trace import RESTART, Case, Trace, read_trace, trace_files, write_trace

FULL = Trace(
    world="orchard",
    engines=("plain", "planes"),
    case=Case((1, RESTART, 2), state={"seed": 2**64 - 1, "apples": []}, marks=True, auto_reset=True),
    differences=(Difference("state.hp", 1, 2), Difference("state.apples[0]", "absent", {"cell": 1})),
    rules=("O-REST",),
    found=Case((0,), seed=2**64 - 1),
    components=((1, 2), (3, 4), (5, 6)),
    component_names=("step", "fruit"),
)


@pytest.mark.parametrize("trace", [FULL, Trace("w", ("a", "b"), Case((), seed=0))])
def test_what_is_written_is_read_back(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "new" / "trace.json"
    write_trace(trace, path)
    assert read_trace(path) == trace
    assert trace_files(path.parent) == [path]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "other"}, "is no trace"),
        ({"version": 2}, "trace of version 2: this harness reads version 1"),
        ({"start": {}}, "either a seed or a state"),
        ({"start": {"seed": 1, "state": {}}}, "either a seed or a state"),
        ({"start": {"seed": -1}}, "no integer in"),
        ({"start": {"seed": True}}, "no integer in"),
        ({"start": {"state": 3}}, "no object"),
        ({"actions": [0, -1]}, "-1 is no action"),
        ({"actions": [0, "jump"]}, "'jump' is no action"),
        ({"engines": ["one"]}, "damaged trace"),
        ({"world": None, "actions": None}, "damaged trace"),
    ],
)
def test_a_damaged_trace_is_one_sentence(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    write_trace(FULL, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UsageError, match=sentence):
        read_trace(path)


def test_missing_and_malformed_files_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(UsageError, match="cannot be read as a trace"):
        read_trace(tmp_path / "bad.json")
    with pytest.raises(UsageError, match="there is no trace file"):
        read_trace(tmp_path / "none.json")
    with pytest.raises(UsageError, match="no trace files"):
        trace_files(tmp_path / "none")

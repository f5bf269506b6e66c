"""Trace files: what is written is read back, and what is none is refused in one sentence."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlparity import UsageError
from rlparity.core.compare import Difference
from rlparity.core.trace import RESTART, Case, Trace, read_trace, trace_files, write_trace

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
LEFT_OUT = "left out"


ARRAYS = Trace("w", ("a", "b"), Case(((float(np.float32(0.1)), -1.5), "restart", (1e-45, 2.0)), seed=0))


@pytest.mark.parametrize("trace", [FULL, ARRAYS, Trace("w", ("a", "b"), Case((), seed=0))])
def test_what_is_written_is_read_back(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "new" / "trace.json"
    write_trace(trace, path)
    assert read_trace(path) == trace
    assert trace_files(path.parent) == [path]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        *(({name: LEFT_OUT}, f"it lacks '{name}'") for name in ("world", "engines", "start", "actions")),
        ({"format": "other"}, "is no trace"),
        ({"version": 2}, "trace of version 2: this harness reads version 1"),
        ({"start": {}}, "either a seed or a state"),
        ({"start": {"seed": 1, "state": {}}}, "either a seed or a state"),
        *(({"start": {"seed": seed}}, "no integer in") for seed in (-1, True, 2**64, 10**2000)),
        ({"start": {"state": 3}}, "no object"),
        ({"start": [1]}, "start is no object"),
        *(({"actions": [0, action]}, f"{action!r} is no action") for action in (-1, "jump", True, 1.0, 2**31)),
        *(({"actions": [[number]]}, "a value of type list is no action") for number in (True, "1", [1], 2**64)),
        ({"actions": "restart"}, "actions are no list"),
        ({"marks": 1}, "its marks is 1, neither true nor false"),
        *(({"engines": engines}, "engines are not two names") for engines in (["one"], [1, 2], "ab")),
        ({"world": None}, "its world None is no name"),
        *(({"rules": rules}, "rules are no list of names") for rules in ([1], "O-REST")),
        ({"found": []}, "a case is no object"),
        ({"found": {}}, "it lacks 'start'"),
        ({"differences": {}}, "differences are no list"),
        ({"differences": [{"field": "state.hp"}]}, "has not the parts expected, field, observed"),
        ({"differences": [{"field": 1, "expected": 1, "observed": 2}]}, "has not the parts"),
        *(({"components": rows}, "no list of lists of numbers") for rows in ([1, 2], [["many"]], [[float("nan")]])),
        ({"component_names": "step"}, "no list of names"),
        ({"version": "\n\n"}, r"version '\\n\\n': this"),
    ],
)
def test_a_damaged_trace_is_one_sentence(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    write_trace(FULL, path)
    whole = json.loads(path.read_text()) | change
    path.write_text(json.dumps({name: value for name, value in whole.items() if value != LEFT_OUT}))
    with pytest.raises(UsageError, match=sentence) as caught:
        read_trace(path)
    assert str(caught.value).isprintable()

"""A trace on a page: on one engine as it plays, on two as `rlparity replay --html` shows it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from written_page import episode_data, page_data

from hackmatrix.cli.main import main
from hackmatrix.rules import ACTIONS, COMPONENTS
from hackmatrix.swift_env.adapter import SwiftEngine
from hackmatrix.world import ENGINES, WORLD
from rlparity import BatchStep
from rlparity.cli.main import main as rlparity
from rlparity.core.trace import Case, Trace, read_trace, write_trace
from tests.hackmatrix.rules.builders import WAIT, state
from tests.hackmatrix.rules.movers import daemon

GOLDEN = Path(str(WORLD.golden))


class Doctored(SwiftEngine):
    """An engine that pays too much for every move up."""

    def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        step = super()._step(actions, restarting=restarting)
        extra = np.zeros_like(step.components)
        extra[:, COMPONENTS.index("kills")] = 300 * (actions == ACTIONS.index("up"))
        return replace(step, components=step.components + extra)


@pytest.fixture
def doctored(swift_built: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second engine is the first one with a fault."""
    monkeypatch.setitem(ENGINES, "jax", Doctored)


def written(trace: Trace, tmp_path: Path) -> Path:
    write_trace(trace, tmp_path / "trace.json")
    return tmp_path / "trace.json"


def played(actions: tuple[int, ...], **fields: Any) -> Trace:  # noqa: ANN401 - of a Trace
    return Trace("hackmatrix", ("swift", "jax"), Case(actions, seed=7), **fields)


def viewed(tmp_path: Path, trace: Path, *flags: str) -> str:
    assert main(["view", str(trace), "--output", str(tmp_path / "page.html"), *flags]) == 0
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_trace_of_two_engines_is_shown_as_parity_replay_shows_it_up_to_where_they_part(
    doctored: None, tmp_path: Path
) -> None:
    trace, report = written(played((3, 3, 0, 3)), tmp_path), tmp_path / "report.html"
    text = viewed(tmp_path, trace)
    data = page_data(text)
    assert data["sides"] == ["swift", "jax"]
    assert data["headline"] == "swift and jax differ after 3 actions: up (0)."
    *_, last = episode_data(text, 0)["steps"]
    assert last["differences"][0][0] == "components[kills]"
    assert rlparity(["replay", str(trace), "--html", str(report)]) == 1
    replayed = report.read_text(encoding="utf-8")
    assert {**data, "command": ""} == {**page_data(replayed), "command": ""}
    assert episode_data(text, 0) == episode_data(replayed, 0)


def test_on_one_engine_every_step_is_what_that_engine_paid_and_changes_since_are_mentioned(
    swift_built: None, tmp_path: Path
) -> None:
    path = sorted(GOLDEN.glob("*.json"))[0]
    golden = read_trace(path)
    text = viewed(tmp_path, path, "--engine", "swift")
    assert page_data(text)["sides"] == ["swift"]
    first, *others = episode_data(text, 0)["steps"]
    assert first["action"] == "start"
    assert [step["action"] for step in others] == [
        ACTIONS[action] for action in golden.case.actions if isinstance(action, int)
    ]
    paid = [{COMPONENTS[index]: int(value) for index, value in step.get("components", [])} for step in others]
    assert golden.components is not None
    recorded = [dict(zip(COMPONENTS, row, strict=True)) for row in golden.components]
    assert paid == [{name: value for name, value in row.items() if value} for row in recorded]
    assert "other ones than those recorded" not in text
    # those that have changed since are mentioned
    row = [-10 * (name == "step_penalty") for name in COMPONENTS]
    rows = (tuple(row), (999, *row[1:]))
    trace = written(played((3, 3), components=rows, component_names=COMPONENTS), tmp_path)
    text = viewed(tmp_path, trace, "--engine", "swift")
    assert any("its rewards are other ones than those recorded" in line for line in page_data(text)["about"])


def test_a_trace_that_ends_a_game_tells_how(swift_built: None, tmp_path: Path) -> None:
    case = Case((WAIT,), state=state(daemon(3, 2), hp=1, owned="wait", energy=1))
    text = viewed(tmp_path, written(Trace("hackmatrix", ("swift", "swift"), case), tmp_path))
    (episode,) = page_data(text)["episodes"]
    assert episode["verdict"].endswith("daemon in stage 1")
    assert episode["end"] == {"level": "stage 1", "cause": "daemon", "row": 3, "column": 2}

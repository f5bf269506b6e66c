"""A trace and a run on a page: as engines play it, and the curves and the furthest agent that a run has left."""

import math
from pathlib import Path
from typing import Any

import pytest
from written_page import episode_data, page_data

from hackmatrix.cli.main import main
from hackmatrix.rules import ACTIONS, COMPONENTS
from hackmatrix.score import MILESTONE
from hackmatrix.world import WORLD
from rlparity.cli.main import main as rlparity
from rlparity.core.trace import Case, Trace, read_trace, write_trace
from rlworldkit.runs.sinks import CsvLog
from rlworldkit.show.pages.run import curves
from tests.hackmatrix.rules.builders import WAIT, state
from tests.hackmatrix.rules.movers import daemon

GOLDEN = Path(str(WORLD.golden))


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


ROWS = [
    {"update": 4, "timesteps": 400, "seconds": 1.0, "steps_per_second": 400.0, "train/entropy": 0.9}
    | {"train/mean_episode_return": math.nan, "reward/kills": 0.0, "stats/highest_stage": 1},
    {"update": 8, "timesteps": 800, "seconds": 2.0, "steps_per_second": 410.0, "train/entropy": 0.8}
    | {"train/mean_episode_return": 1.5, "reward/kills": 0.3, "stats/highest_stage": 2},
]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The folder of a run that has recorded metrics and saved nothing yet."""
    folder = tmp_path / "begun"
    folder.mkdir()
    log = CsvLog(folder / "metrics.csv")
    for row in ROWS:
        log.write(row)
    return folder


def test_the_curves_are_what_the_run_recorded_the_return_first(recorded: Path) -> None:
    found = {curve.name: (curve.steps, curve.values) for curve in curves(recorded, MILESTONE)}
    assert list(found) == [
        *("train/mean_episode_return", "stats/highest_stage", "train/entropy"),
        *("steps_per_second", "reward/kills"),
    ]
    assert found["train/mean_episode_return"] == ((800,), (1.5,))
    assert found["steps_per_second"] == ((400, 800), (400.0, 410.0))


def test_a_run_of_train_sb3_is_shown_with_its_agent_and_without(
    swift_built: None, recorded: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    words = ["view", str(recorded), "--output", str(page), "--episodes", "2", "--max-steps", "3"]
    assert main(words) == 0
    assert "has no agent yet" in capsys.readouterr().err
    data = page_data(page.read_text(encoding="utf-8"))
    assert (len(data["curves"]), data["episodes"]) == (5, [])
    (recorded / "final_model.zip").write_bytes(model.read_bytes())
    assert main(words) == 0
    data = page_data(page.read_text(encoding="utf-8"))
    assert data["headline"] == "begun, final_model.zip, drawn actions: games 0 to 1"
    assert len(data["curves"]) == 5
    assert [episode["name"] for episode in data["episodes"]] == ["seed 0", "seed 1"]

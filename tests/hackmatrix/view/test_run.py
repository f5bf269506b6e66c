"""A run on a page: the curves that it recorded, and games of its furthest agent."""

import math
from pathlib import Path

import pytest
from written_page import page_data

from hackmatrix.cli.main import main
from hackmatrix.score import MILESTONE
from rlworldkit.runs.sinks import CsvLog
from rlworldkit.show.pages.run import curves

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

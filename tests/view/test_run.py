"""A run on a page: the curves that it recorded, and games of its furthest agent."""

import math
from pathlib import Path

import pytest
from written_page import page_data

from hackmatrix.cli.main import main
from hackmatrix.view.run import agents, curves
from worldkit.runs.sinks import CsvLog

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
    with CsvLog(folder / "metrics.csv") as log:
        for row in ROWS:
            log.write(row)
    return folder


def test_the_curves_are_what_the_run_recorded_the_return_first(recorded: Path) -> None:
    found = {curve.name: (curve.steps, curve.values) for curve in curves(recorded)}
    assert list(found) == [
        *("train/mean_episode_return", "stats/highest_stage", "train/entropy"),
        *("steps_per_second", "reward/kills"),
    ]
    assert found["train/mean_episode_return"] == ((800,), (1.5,))
    assert found["steps_per_second"] == ((400, 800), (400.0, 410.0))


def test_the_furthest_agent_comes_first(run_folder: Path) -> None:
    run = run_folder / "hackmatrix-20260102-000000-seed0"
    assert [path.name for path in agents(run)] == ["checkpoint_20.pkl", "params_10.npz", "checkpoint_10.pkl"]
    assert not agents(run_folder), "a folder of runs is no run"


def test_of_models_that_with_the_most_steps_comes_first(model: Path, tmp_path: Path) -> None:
    for name in ("best_model.zip", "final_model.zip"):
        (tmp_path / name).write_bytes(model.read_bytes())
    (tmp_path / "checkpoint_99_steps.zip").write_bytes(b"damaged")
    names = [path.name for path in agents(tmp_path)]
    assert names == ["final_model.zip", "best_model.zip", "checkpoint_99_steps.zip"]


def test_a_run_of_train_sb3_is_shown_too(swift_built: None, recorded: Path, model: Path, tmp_path: Path) -> None:
    (recorded / "final_model.zip").write_bytes(model.read_bytes())
    page = tmp_path / "page.html"
    assert main(["view", str(recorded), "--output", str(page), "--episodes", "2", "--max-steps", "3"]) == 0
    data = page_data(page.read_text(encoding="utf-8"))
    assert data["headline"] == "begun, final_model.zip, likeliest actions: games 0 to 1"
    assert len(data["curves"]) == 5
    assert [episode["name"] for episode in data["episodes"]] == ["seed 0", "seed 1"]


def test_a_run_without_an_agent_shows_its_curves(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["view", str(recorded), "--output", str(page)]) == 0
    assert "has no agent yet" in capsys.readouterr().err
    data = page_data(page.read_text(encoding="utf-8"))
    assert (len(data["curves"]), data["episodes"]) == (5, [])


def test_a_damaged_agent_is_passed_over_aloud(
    swift_built: None, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "params_10.npz").write_bytes(next(run_folder.rglob("params_10.npz")).read_bytes())
    (run / "params_11.npz").write_bytes(b"damaged")
    page = tmp_path / "page.html"
    assert main(["view", str(run), "--output", str(page), "--episodes", "1", "--max-steps", "1"]) == 0
    assert "Passed over: " in capsys.readouterr().err
    assert page_data(page.read_text(encoding="utf-8"))["headline"].startswith("run, params_10.npz")

"""The sinks: files, terminal and learning curve."""

import csv
import io
import json
import math
from pathlib import Path

import matplotlib.image
import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rlworldkit.runs.console import ConsoleProgress
from rlworldkit.runs.curve import draw_curve
from rlworldkit.runs.sinks import CsvLog, JsonLinesLog, Milestone, TensorBoardLog, read_csv

MILESTONE = Milestone("stats/best_score", name="best score", title="Best score", unit="score", least=0, most=48)
ROW = {
    "update": 10,
    "timesteps": 250_000,
    "seconds": 50.0,
    "steps_per_second": 5_000.0,
    "train/mean_episode_return": -1.5,
    "train/mean_episode_length": 20.25,
    "train/entropy": 1.25,
    "train/approx_kl": 0.0123,
    "train/clip_frac": 0.125,
    "stats/best_score": 3,
}
SHOWN = ("5,000", "-1.500", "20.2", "1.250", "0.0123", "12.5%")


def test_csv_has_a_header_and_a_row_per_interval_on_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    log = CsvLog(path)
    log.write(ROW)
    log.write({**ROW, "update": 20, "train/mean_episode_return": math.nan})
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["update"] for row in rows] == ["10", "20"]
    assert list(rows[0]) == list(ROW)
    assert [row["train/mean_episode_return"] for row in rows] == ["-1.5", ""]


def test_what_is_no_number_is_a_text_in_json_lines(tmp_path: Path) -> None:
    log = JsonLinesLog(tmp_path / "metrics.jsonl")
    for entropy in (math.nan, math.inf):
        log.write({**ROW, "train/entropy": entropy})
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line, parse_constant=pytest.fail)["train/entropy"] for line in lines] == ["NaN", "Infinity"]


def test_a_metric_that_comes_up_later_gets_a_column(tmp_path: Path) -> None:
    log = CsvLog(tmp_path / "metrics.csv", step="timesteps")
    written = [{"timesteps": 1.0, "a": 1.0}, {"timesteps": 2.0, "b": 2.0}, {"timesteps": 3.0, "a": 3.0, "b": 3.0}]
    for row in written:
        log.write(row)
    rows = read_csv(log.path)
    assert [{name: value for name, value in row.items() if not math.isnan(value)} for row in rows] == written
    assert all(row.keys() == {"timesteps", "a", "b"} for row in rows)


def test_tensorboard_has_every_metric_over_the_updates(tmp_path: Path) -> None:
    log = TensorBoardLog(tmp_path)
    log.write(ROW)
    log.write({**ROW, "update": 20, "train/entropy": math.nan})
    events = EventAccumulator(str(tmp_path)).Reload()
    assert set(events.Tags()["scalars"]) == set(ROW)
    assert [event.step for event in events.Scalars("train/approx_kl")] == [10, 20]
    assert [event.step for event in events.Scalars("train/entropy")] == [10]


def test_tensorboard_forgets_what_comes_again_after_a_resume(tmp_path: Path) -> None:
    for after, loss, updates in ((0, 1.0, (10, 20, 30)), (10, 2.0, (20,))):
        log = TensorBoardLog(tmp_path, after=after)
        for update in updates:
            log.write({"update": update, "loss": loss})
    points = EventAccumulator(str(tmp_path)).Reload().Scalars("loss")
    assert [(point.step, point.value) for point in points] == [(10, 1.0), (20, 2.0)]


def test_without_a_terminal_progress_is_one_plain_line_per_interval() -> None:
    output = io.StringIO()
    with ConsoleProgress({"run": 1_000_000}, Console(file=output, width=40), MILESTONE) as progress:
        progress.write(ROW)
        progress.write({**ROW, "train/mean_episode_return": math.nan})
    lines = output.getvalue().splitlines()
    assert len(lines) == 2
    assert "\x1b" not in output.getvalue()
    for text in ("250,000 of 1,000,000 steps", *SHOWN, "best score 3", "0:02:30 left"):
        assert text in lines[0]
    assert "return –" in lines[1]


@pytest.mark.parametrize("num_rows", [1, 80])
def test_the_learning_curve_is_a_picture(num_rows: int, tmp_path: Path) -> None:
    rows = []
    for index in range(num_rows):
        gap = index % 7 == 3
        value = math.nan if gap else math.sin(index)
        rows.append({**ROW, "timesteps": 1000 * (index + 1), "train/mean_episode_return": value})
    draw_curve(rows, tmp_path / "learning_curve.png", "a run: $^$ \udcff", MILESTONE)
    picture = matplotlib.image.imread(tmp_path / "learning_curve.png")
    assert picture.shape[0] > 800
    assert picture.std() > 0.05

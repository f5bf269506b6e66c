"""Files beside the models of a run: whatever is wrong with one is a sentence, and soon."""

import csv
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlparity.errors import UsageError
from rlworldkit.cli.train_sb3 import TrainSB3Options
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.runs.saved_config import read_saved_config
from rlworldkit.runs.sinks import CsvLog, JsonLinesLog, read_csv
from rlworldkit.sb3.callbacks import earlier_evaluations
from rlworldkit.sb3.config import MaskablePPOConfig
from rlworldkit.settings import saved_settings
from tests.mutations import ARRAYS, WRONG, altered, damaged, is_one_line, said_or_read

JSON_WRONG = WRONG[:7] + WRONG[8:]  # without the number that JSON has no digits for
SETTINGS = {"timesteps": 1000, "learning_rate": 3e-4, "num_envs": 8, "seed": 3, "engine": None, "wandb_id": "abc"}
ROWS = [["update", "train/entropy"], ["1", "0.5"], ["2", ""]]
HEADING = "update,train/entropy\n"
GOOD: dict[str, Any] = {
    "timesteps": np.array([10, 20]),
    "results": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "ep_lengths": np.array([[5, 6], [7, 8]]),
}


def rows_of(path: Path) -> None:
    """Do all that a resumed run does with its metrics."""
    read_csv(path)
    CsvLog(path, after=10).write({"update": 11})


def write_json(path: Path, tree: object) -> None:
    path.write_bytes(json.dumps(tree).encode("utf-8", "surrogatepass"))


def write_csv(path: Path, tree: Any) -> None:  # noqa: ANN401 - rows, or what was put in their place
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(row if isinstance(row, list) else [row] for row in tree)


def write_lines(path: Path, tree: object) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in (tree if isinstance(tree, list) else [tree])))


def write_npz(path: Path, tree: object) -> None:
    np.savez(path, **(tree if isinstance(tree, dict) else {}))


class Kind(NamedTuple):
    """A kind of file: its reader, a good content, values that may stand in it instead, and its writer."""

    read: Callable[[Path], object]
    good: Any
    wrong: list[Any]
    write: Callable[[Path, Any], None]


KINDS = {
    "config.json": Kind(
        lambda path: saved_settings(MaskablePPOConfig, read_saved_config(path.parent), path),
        SETTINGS,
        JSON_WRONG,
        write_json,
    ),
    "metrics.csv": Kind(rows_of, ROWS, ["", "nan", "x", "1e999", "\0", ",", '"'], write_csv),
    "metrics.jsonl": Kind(
        lambda path: JsonLinesLog(path, after=10).write({"update": 11}),
        [{"update": 1, "train/entropy": 0.5}, {"update": 2}],
        JSON_WRONG,
        write_lines,
    ),
    "evaluations.npz": Kind(earlier_evaluations, GOOD, [np.asarray(value) for value in ARRAYS], write_npz),
}


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        KINDS[path.name].read(path)
    assert str(path) in str(caught.value)
    assert is_one_line(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_file_of_a_reasonable_size_is_one_sentence(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    KINDS[name].read(path)  # one that is not there is no fault
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert "it is a pipe, a device or the like" in refused(path)
    path.unlink()
    path.touch()
    os.truncate(path, 2**28 + 1)
    assert "MiB, the most that is read" in refused(path)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("config.json", b"{", "no JSON"),
        ("config.json", b"[]", "no object of settings"),
        ("config.json", b'{"wandb_id": 3}', "its wandb_id is no text"),
        ("config.json", b'{"num_envs": 0}', "keeps 0 as num_envs, which must be a whole number from 1 to"),
        ("config.json", b'{"num_envs": "8\\n"}', r"keeps '8\n' as num_envs, which must be a whole number"),
        ("config.json", b'{"num_envs": true}', "keeps True as num_envs, which must be a whole number"),
        ("config.json", b'{"num_envs": 1.5}', "keeps 1.5 as num_envs, which must be a whole number"),
        ("config.json", b'{"learning_rate": NaN}', "keeps nan as learning_rate, which must be a number"),
        ("config.json", b'{"timesteps": 1' + b"0" * 400 + b"}", "type int as timesteps, which must be a whole number"),
        ("config.json", b'{"timesteps": null}', "keeps None as timesteps, which must be a whole number"),
        ("config.json", b'{"timesteps": []}', "keeps a value of type list as timesteps"),
        ("metrics.csv", b"\xff\n", "no UTF-8 text"),
        ("metrics.csv", b"other,train/entropy\n1,2\n", "has no column 'update'"),
        ("metrics.csv", (HEADING + '1,"a\nb"\n').encode(), r"holds no metrics ('a\nb' is no number)"),
        ("metrics.csv", (HEADING + "1," + "9" * 200_000 + "\n").encode(), "field larger than field limit"),
        ("metrics.jsonl", b"\xff", "no UTF-8 text"),
        ("evaluations.npz", b"", "no zip archive"),
    ],
    ids=lambda part: repr(part)[:50],
)
def test_what_is_wrong_inside_is_one_sentence(name: str, content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert sentence in refused(tmp_path / name)


@pytest.mark.parametrize(
    "line",
    ["1,2,3", "1", "", "11,2", "\0\0"],
    ids=["one that another ran into", "one that was cut off", "an empty one", "late", "zeros"],
)
def test_rows_that_are_no_longer_whole_or_come_again_are_left_out(line: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(f"{HEADING}1,2\n{line}\n2,\n")
    CsvLog(path, after=10).write({"update": 11})
    first, second, _ = read_csv(path)
    assert first == {"update": 1, "train/entropy": 2}
    assert second["update"] == 2
    assert math.isnan(second["train/entropy"])


NO_STEPS = ["{", "\0\0", "[1]", "3", '{"a": 3}', '{"update": 1e400}', '{"update": ' + "9" * 400 + "}", "[" * 20_000]


@pytest.mark.parametrize("line", NO_STEPS)
def test_lines_that_say_no_step_are_left_out(line: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(f'{{"update": 1}}\n{line}\n')
    JsonLinesLog(path, after=10).write({"update": 11})
    assert path.read_text() == '{"update": 1}\n{"update": 11}\n'


@pytest.mark.parametrize(
    "change",
    [
        {"timesteps": None},
        {"results": None},
        {"timesteps": np.array([10])},
        {"timesteps": np.array(["a", "b"])},
        {"results": np.array([1.0, 2.0])},
        {"results": np.array([[np.nan, 2.0], [3.0, 4.0]])},
        {"ep_lengths": np.array([[1], [2]])},
        {"results": np.zeros((2, 0)), "ep_lengths": np.zeros((2, 0), int)},
        dict.fromkeys(GOOD, np.zeros(0)),
    ],
    ids=str,
)
def test_evaluations_of_another_form_are_one_sentence(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "evaluations.npz"
    write_npz(path, GOOD)
    steps, returns, lengths = (GOOD[name].tolist() for name in GOOD)
    assert earlier_evaluations(path) == dict(zip(steps, zip(returns, lengths, strict=True), strict=True))
    write_npz(path, {name: array for name, array in {**GOOD, **change}.items() if array is not None})
    assert "holds no evaluations; move it away to go on without it" in refused(path)


def test_the_settings_of_both_trainers_come_back_as_they_were_written(tmp_path: Path) -> None:
    written = json.loads(json.dumps({**vars(TrainConfig()), "gamma": 1, "other": []}))
    assert saved_settings(TrainConfig, written, tmp_path) == {**vars(TrainConfig()), "gamma": 1}
    assert saved_settings(MaskablePPOConfig, vars(MaskablePPOConfig()), tmp_path) == vars(MaskablePPOConfig())
    assert TrainSB3Options().trust is False


@pytest.mark.parametrize("examples", [50, pytest.param(5_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", KINDS)
def test_mutated_files_are_read_or_refused(name: str, tmp_path: Path, examples: int) -> None:
    path, kind = tmp_path / name, KINDS[name]
    kind.write(path, kind.good)
    whole = path.read_bytes()

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.data())
    def every_one_is_read_or_refused(data: st.DataObject) -> None:
        if data.draw(st.booleans()):
            path.write_bytes(data.draw(damaged(whole)))
        else:
            kind.write(path, data.draw(altered(kind.good, kind.wrong)))
        said_or_read(lambda: kind.read(path))

    every_one_is_read_or_refused()

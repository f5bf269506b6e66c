"""Golden episodes: a reward change shows with its transitions, and is accepted only when the engines agree."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from toy_world import WORLD

from parity.cli import main
from parity.trace import read_trace

ORCHARD = "toy_world:WORLD"


def rewards(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["rewards", "--world", ORCHARD, "--golden", str(folder), "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A copy of the committed episodes."""
    assert WORLD.golden is not None
    return Path(shutil.copytree(WORLD.golden, tmp_path / "golden"))


def spoil(path: Path) -> tuple[int, list[int]]:
    """Record another reward for the last step; the step and what is right there."""
    value = json.loads(path.read_text())
    step = len(value["components"]) - 1
    right = value["components"][step]
    value["components"][step] = [right[0] - 5, *right[1:]]
    path.write_text(json.dumps(value))
    return step, right


def test_the_committed_episodes_are_what_both_engines_give(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = rewards(capsys, golden)
    assert code == 0
    assert answer["episodes"] == 5
    assert answer["transitions"] > 50
    assert (answer["changes"], answer["engines_agree"]) == ([], True)


def test_a_change_is_shown_by_component_and_transition_and_accepted(
    golden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = golden / "uniform-2.json"
    before = path.read_text()
    step, right = spoil(path)
    code, answer = rewards(capsys, golden)
    assert code == 1
    (change,) = answer["changes"]
    assert change == {
        "episode": "uniform-2",
        "step": step,
        "action": read_trace(path).case.actions[step],
        "component": "step",
        "before": right[0] - 5,
        "after": right[0],
    }
    assert main(["rewards", "--world", ORCHARD, "--golden", str(golden)]) == 1
    printed = capsys.readouterr().out
    assert "+0.005" in printed
    assert "plain and planes agree." in printed

    code, answer = rewards(capsys, golden, "--accept")
    assert (code, answer["accepted"]) == (0, 1)
    assert path.read_text() == before
    assert rewards(capsys, golden)[0] == 0


def test_nothing_is_accepted_while_the_engines_disagree(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = golden / "uniform-1.json"
    spoil(path)
    spoiled = path.read_text()
    code, answer = rewards(capsys, golden, "--accept", "--engines", "plain,restless")
    assert code == 1
    assert answer["engines_agree"] is False
    assert answer["disagreements"]
    assert answer["accepted"] == 0
    assert path.read_text() == spoiled


def test_recording_writes_episodes_that_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--out", str(tmp_path), "--games", "3", "--steps", "25", "--seed", "9", "--source", "directed"]
    assert main(["record", "--world", ORCHARD, *arguments, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["files"]) == 3
    code, answer = rewards(capsys, tmp_path)
    assert (code, answer["episodes"]) == (0, 3)


def test_a_trace_without_rewards_is_no_golden_episode(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = golden / "uniform-1.json"
    value = json.loads(path.read_text())
    path.write_text(json.dumps(value | {"components": value["components"][:-1]}))
    assert main(["rewards", "--world", ORCHARD, "--golden", str(golden)]) == 2
    assert "does not hold the 3 reward components of each of its steps" in capsys.readouterr().err
    path.write_text(json.dumps(value | {"actions": ["restart", *value["actions"][1:]]}))
    assert main(["rewards", "--world", ORCHARD, "--golden", str(golden)]) == 2
    assert "goes on after a restart" in capsys.readouterr().err

"""Golden episodes: a reward change shows with its transitions, and is accepted only when the engines agree."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy_world
from numpy.typing import NDArray
from toy_world import WORLD
from toy_world.plain import PlainEngine

from parity import BatchStep
from parity.cli import main
from parity.trace import read_trace

ORCHARD = "toy_world:WORLD"
REST = WORLD.actions.index("rest")


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


def test_nan_is_recorded_read_back_and_no_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = "--engines", "nan,nan"
    assert main(["record", "--world", ORCHARD, *both, "--games", "1", "--steps", "2", "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_text(), parse_constant=pytest.fail)["components"][0] == ["NaN"] * 3
    capsys.readouterr()
    code, answer = rewards(capsys, tmp_path, *both, "--accept")
    assert (code, answer["changes"], answer["engines_agree"], answer["accepted"]) == (0, [], True, 0)


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
    assert {read_trace(path).component_names for path in tmp_path.iterdir()} == {WORLD.components}


def test_a_trace_without_rewards_is_no_golden_episode(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = golden / "uniform-1.json"
    value = json.loads(path.read_text())
    path.write_text(json.dumps(value | {"components": value["components"][:-1]}))
    assert main(["rewards", "--world", ORCHARD, "--golden", str(golden)]) == 2
    assert "does not hold the 3 reward components of each of its steps" in capsys.readouterr().err
    path.write_text(json.dumps(value | {"actions": ["restart", *value["actions"][1:]]}))
    assert main(["rewards", "--world", ORCHARD, "--golden", str(golden)]) == 2
    assert "goes on after a restart" in capsys.readouterr().err


def changed_world(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[NDArray[Any], NDArray[Any]], Any], components: tuple[str, ...]
) -> tuple[str, ...]:
    """The words that name Orchard with another reward, which both engines give: ``change(components, actions)``."""

    class Changed(PlainEngine):
        def step(self, actions: NDArray[np.int32]) -> BatchStep:
            step = super().step(actions)
            return replace(step, components=np.ascontiguousarray(change(step.components, actions), np.int32))

    world = replace(WORLD, engines={"one": Changed, "other": Changed}, components=components)
    monkeypatch.setattr(toy_world, "CHANGED", world, raising=False)
    return "--world", "toy_world:CHANGED"


def with_calm(components: NDArray[Any], actions: NDArray[Any], action: int = REST) -> NDArray[Any]:
    """One component more: a bonus for every valid action of this kind."""
    bonus = np.where((actions == action) & (components[:, 0] != 0), 7, 0)
    return np.column_stack([components, bonus])


def without_the_last(components: NDArray[Any], actions: NDArray[Any]) -> NDArray[Any]:
    return components[:, :-1]


def without_names(folder: Path) -> None:
    """Make the episodes such as they were before they named their components."""
    for path in folder.glob("*.json"):
        value = json.loads(path.read_text())
        del value["component_names"]
        path.write_text(json.dumps(value))


@pytest.mark.parametrize("named", [True, False])
def test_a_new_component_shows_with_the_transitions_that_earn_it(
    named: bool, golden: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not named:
        without_names(golden)
    rests = [
        (path.stem, step)
        for path in sorted(golden.glob("*.json"))
        for step, action in enumerate(read_trace(path).case.actions)
        if action == REST
    ]
    words = ["rewards", *changed_world(monkeypatch, with_calm, (*WORLD.components, "calm")), "--golden", str(golden)]
    assert main([*words, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["new_components"] == ["calm"]
    assert {change["component"] for change in answer["changes"]} == {"calm"}
    assert [(change["episode"], change["step"]) for change in answer["changes"]] == rests
    assert {(change["before"], change["after"]) for change in answer["changes"]} == {(None, 7)}

    assert main(words) == 1
    printed = capsys.readouterr().out
    assert "What earns calm, which is new (one)" in printed
    assert "What changed" not in printed

    assert main([*words, "--accept"]) == 0
    assert {read_trace(path).component_names for path in golden.glob("*.json")} == {(*WORLD.components, "calm")}
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["new_components"] == []


def test_a_new_component_that_nothing_earns_is_said_to_be_one(
    golden: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = changed_world(monkeypatch, partial(with_calm, action=-1), (*WORLD.components, "calm"))
    assert main(["rewards", *words, "--golden", str(golden)]) == 0
    assert "No transition earns calm, which is new." in capsys.readouterr().out


def test_reordered_components_are_held_to_those_of_their_names(
    golden: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = changed_world(monkeypatch, lambda components, actions: components[:, ::-1], WORLD.components[::-1])
    assert main(["rewards", *words, "--golden", str(golden)]) == 0
    assert "No reward has changed." in capsys.readouterr().out


def test_a_removed_component_shows_as_what_it_was_worth(
    golden: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = changed_world(monkeypatch, without_the_last, WORLD.components[:-1])
    assert main(["rewards", *words, "--golden", str(golden), "--json"]) == 1
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert {(change["component"], change["before"], change["after"]) for change in changes} == {("sting", -500, None)}


def test_an_unnamed_episode_with_more_components_than_the_world_is_refused(
    golden: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_names(golden)
    words = changed_world(monkeypatch, without_the_last, WORLD.components[:-1])
    assert main(["rewards", *words, "--golden", str(golden)]) == 2
    assert "does not hold the 2 reward components of each of its steps" in capsys.readouterr().err

"""Golden episodes: a reward change shows with its transitions, and is accepted only when the engines agree."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Ran, orchard, rlparity
from faulty_orchard import WORLD
from numpy.typing import NDArray
from orchard.plain import PlainEngine

from rlparity import BatchStep
from rlparity.core.trace import read_trace

REST = WORLD.actions.index("rest")


def rewards(folder: Path, *words: str) -> Ran:
    return rlparity("rewards", "--golden", folder, "--json", *words)


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


def test_nan_is_recorded_read_back_and_no_change(tmp_path: Path) -> None:
    both = "--engines", "nan,nan"
    assert rlparity("record", *both, "--games", "1", "--steps", "2", "--out", tmp_path).code == 0
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_text(), parse_constant=pytest.fail)["components"][0] == ["NaN"] * 3
    ran = rewards(tmp_path, *both, "--accept")
    assert (ran.code, ran.json["changes"], ran.json["engines_agree"], ran.json["accepted"]) == (0, [], True, 0)


def test_a_change_is_shown_by_component_and_transition_and_accepted(golden: Path) -> None:
    ran = rewards(golden)
    assert (ran.code, ran.json["episodes"], ran.json["transitions"] > 50) == (0, 5, True)
    assert (ran.json["changes"], ran.json["engines_agree"]) == ([], True)
    path = golden / "uniform-2.json"
    before = path.read_text()
    step, right = spoil(path)
    ran = rewards(golden)
    assert ran.code == 1
    (change,) = ran.json["changes"]
    assert change == {
        "episode": "uniform-2",
        "step": step,
        "action": read_trace(path).case.actions[step],
        "component": "step",
        "before": right[0] - 5,
        "after": right[0],
    }
    shown = rlparity("rewards", "--golden", golden)
    assert shown.code == 1
    assert "+0.005" in shown.out
    assert "plain and planes agree." in shown.out

    ran = rewards(golden, "--accept")
    assert (ran.code, ran.json["accepted"]) == (0, 1)
    assert path.read_text() == before


def test_nothing_is_accepted_while_the_engines_disagree(golden: Path) -> None:
    path = golden / "uniform-1.json"
    spoil(path)
    spoiled = path.read_text()
    ran = rewards(golden, "--accept", "--engines", "plain,restless")
    assert (ran.code, ran.json["engines_agree"], ran.json["accepted"]) == (1, False, 0)
    assert ran.json["disagreements"]
    assert path.read_text() == spoiled


def test_recording_writes_episodes_that_hold(tmp_path: Path) -> None:
    words = "--games", "3", "--steps", "25", "--seed", "9", "--source", "directed", "--json"
    recorded = rlparity("record", "--out", tmp_path, *words)
    assert (recorded.code, len(recorded.json["files"])) == (0, 3)
    ran = rewards(tmp_path)
    assert (ran.code, ran.json["episodes"]) == (0, 3)
    assert {read_trace(path).component_names for path in tmp_path.iterdir()} == {WORLD.components}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda value: {"components": value["components"][:-1]},
            "does not hold the 3 reward components of each of its steps",
        ),
        (lambda value: {"actions": ["restart", *value["actions"][1:]]}, "goes on after a restart"),
    ],
    ids=["too few rewards", "a restart"],
)
def test_a_trace_of_another_kind_is_no_golden_episode(
    change: Callable[[dict[str, Any]], dict[str, Any]], sentence: str, golden: Path
) -> None:
    path = golden / "uniform-1.json"
    value = json.loads(path.read_text())
    path.write_text(json.dumps(value | change(value)))
    assert sentence in rewards(golden).refusal()


def changed_world(change: Callable[[NDArray[Any], NDArray[Any]], Any], components: tuple[str, ...]) -> str:
    """Orchard with another reward, which both engines give: ``change(components, actions)``."""

    class Changed(PlainEngine):
        def step(self, actions: NDArray[np.int32]) -> BatchStep:
            step = super().step(actions)
            return replace(step, components=np.ascontiguousarray(change(step.components, actions), np.int32))

    return orchard(engines={"one": Changed, "other": Changed}, components=components)


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
def test_a_new_component_shows_with_the_transitions_that_earn_it(named: bool, golden: Path) -> None:
    if not named:
        without_names(golden)
    rests = [
        (path.stem, step)
        for path in sorted(golden.glob("*.json"))
        for step, action in enumerate(read_trace(path).case.actions)
        if action == REST
    ]
    rewards = partial(
        rlparity, "rewards", "--golden", golden, world=changed_world(with_calm, (*WORLD.components, "calm"))
    )
    ran = rewards("--json")
    assert (ran.code, ran.json["new_components"]) == (1, ["calm"])
    changes = ran.json["changes"]
    assert {change["component"] for change in changes} == {"calm"}
    assert [(change["episode"], change["step"]) for change in changes] == rests
    assert {(change["before"], change["after"]) for change in changes} == {(None, 7)}

    shown = rewards()
    assert shown.code == 1
    assert "What earns calm, which is new (one)" in shown.out
    assert "What changed" not in shown.out

    assert rewards("--accept").code == 0
    assert {read_trace(path).component_names for path in golden.glob("*.json")} == {(*WORLD.components, "calm")}
    ran = rewards("--json")
    assert (ran.code, ran.json["new_components"]) == (0, [])


@pytest.mark.parametrize(
    ("change", "components", "said"),
    [
        (partial(with_calm, action=-1), (*WORLD.components, "calm"), "No transition earns calm, which is new."),
        (lambda components, actions: components[:, ::-1], WORLD.components[::-1], "No reward has changed."),
    ],
    ids=["one that nothing earns", "another order"],
)
def test_components_that_change_no_reward_are_no_change(
    change: Callable[..., Any], components: tuple[str, ...], said: str, golden: Path
) -> None:
    ran = rlparity("rewards", "--golden", golden, world=changed_world(change, components))
    assert (ran.code, said in ran.out) == (0, True)


def test_a_removed_component_shows_as_what_it_was_worth(golden: Path) -> None:
    world = changed_world(without_the_last, WORLD.components[:-1])
    ran = rlparity("rewards", "--golden", golden, "--json", world=world)
    assert ran.code == 1
    changes = {(change["component"], change["before"], change["after"]) for change in ran.json["changes"]}
    assert changes == {("sting", -500, None)}
    # Without names nobody knows which one was removed.
    without_names(golden)
    said = rlparity("rewards", "--golden", golden, world=world).refusal()
    assert "does not hold the 2 reward components of each of its steps" in said

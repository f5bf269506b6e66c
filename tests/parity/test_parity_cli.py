"""The command ``parity``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import toy_world
from written_page import episode_data, page_data

from parity.cli import main
from parity.compare import Difference
from parity.trace import Case, Trace, read_trace, write_trace

ORCHARD = "toy_world:WORLD"


def parity(*arguments: str | Path) -> int:
    """Exit code of ``parity COMMAND --world toy_world:WORLD …``."""
    command, *rest = map(str, arguments)
    return main([command, "--world", ORCHARD, *rest])


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = parity(*arguments, "--json")
    return code, json.loads(capsys.readouterr().out)


def test_identical_engines_end_with_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, answer = run_json(capsys, "run", "--steps", "50", "--games", "8", "--out", tmp_path)
    assert code == 0
    assert answer["identical"] is True
    assert answer["engines"] == ["plain", "planes"]
    assert answer["steps_compared"] == 400
    assert list(tmp_path.iterdir()) == []


def test_a_divergence_is_shrunk_reported_and_replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "my reports"
    assert parity("run", "--engines", "plain,restless", "--out", out) == 1
    printed = capsys.readouterr().out
    assert "plain and restless differ after 1 action: rest (5)." in printed
    assert "state.hp" in printed
    assert "O-REST" in printed
    (command,) = [line.removeprefix("Replay with: ") for line in printed.splitlines() if line.startswith("Replay with")]
    program, *arguments = shlex.split(command)
    assert program == "parity"

    assert main(arguments) == 1
    assert "state.hp" in capsys.readouterr().out
    assert main([*arguments, "--engines", "plain,planes"]) == 0
    assert "plain and planes agree on this case." in capsys.readouterr().out

    trace = read_trace(out / "trace.json")
    assert trace.case.actions == (5,)
    assert trace.found is not None
    assert len(trace.found.actions) > 1
    assert {found.field for found in trace.differences} == {"observation[0: hp]", "state.hp"}


def test_the_page_holds_both_boards_of_every_step_and_marks_what_differs(tmp_path: Path) -> None:
    parity("run", "--engines", "plain,restless", "--out", tmp_path)
    text = (tmp_path / "trace.html").read_text(encoding="utf-8")
    # Nothing is loaded from elsewhere.
    assert not any(outside in text for outside in ("http:", "https:", "src=", "@import", "<link"))
    assert "ArrowLeft" in text
    assert 'id="back"' in text
    data = page_data(text)
    assert data["sides"] == ["plain", "restless"]
    assert data["command"] == f"parity replay --world {ORCHARD} {tmp_path / 'trace.json'}"
    assert data["about"][-1] == "Rules in play: O-REST, O-WASP."
    (listed,) = data["episodes"]
    assert listed["differs"] == 1
    start, last = episode_data(text, 0)["steps"]
    assert start.keys() == {"action", "boards", "marks"}
    assert start["action"] == "start"
    assert last["action"] == "rest (5)"
    assert last["scalars"] == ["hp"]
    assert ["state.hp", "2", "1"] in last["differences"]
    assert [dict(board["scalars"])["hp"] for board in last["boards"]] == ["2", "1"]
    assert len(last["boards"][0]["rows"]) == 4


def test_a_difference_only_within_a_batch_is_said_to_be_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert parity("run", "--engines", "planes,leaky", "--out", tmp_path) == 1
    printed = capsys.readouterr().out
    assert "differ within a batch, but not when this game is played alone" in printed
    assert "state.score" in printed
    text = (tmp_path / "trace.html").read_text(encoding="utf-8")
    assert episode_data(text, 0)["inBatch"][0][0] == "observation[1: score]"


def test_each_of_several_divergences_gets_its_own_files_and_traces_are_a_source(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert parity("run", "--engines", "plain,restless", "--max-divergences", "2", "--out", tmp_path) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"trace.json", "trace.html", "trace-2.json", "trace-2.html"}
    code, answer = run_json(capsys, "run", "--source", f"traces:{tmp_path}")
    assert (code, answer["episodes"], answer["steps_compared"]) == (0, 2, 2)
    arguments = "--source", f"traces:{tmp_path}", "--engines", "plain,restless", "--no-report"
    code, answer = run_json(capsys, "run", *arguments)
    assert code == 1
    assert answer["divergences"][0]["step"] == 1


def test_nan_and_infinity_are_texts_in_strict_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = {
        "observation[0: hp]": "NaN",
        "reward": "-Infinity",
        "components": "float64 (3,)",
    }
    assert parity("run", "--engines", "planes,nan", "--out", tmp_path) == 1
    capsys.readouterr()
    assert parity("replay", tmp_path / "trace.json", "--json") == 1
    for text in ((tmp_path / "trace.json").read_text(), capsys.readouterr().out):
        value = json.loads(text, parse_constant=pytest.fail)
        assert {each["field"]: each["observed"] for each in value["differences"]} == told
    read = {each.field: str(each.observed) for each in read_trace(tmp_path / "trace.json").differences}
    assert read == {**told, "observation[0: hp]": "nan", "reward": "-inf"}
    (_, step) = episode_data((tmp_path / "trace.html").read_text(), 0)["steps"]
    assert {field: observed for field, _, observed in step["differences"]} == told


def test_a_policy_file_is_a_source(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "rest.json").write_text("[0, 0, 0, 0, 0, 1]")
    arguments = "--source", f"policy:{tmp_path / 'rest.json'}", "--invalid", "0", "--steps", "20", "--games", "4"
    code, answer = run_json(capsys, "coverage", *arguments)
    # Resting all the time leaves most rules alone.
    assert code == 1
    assert {"O-MOVE", "O-PICK", "O-INVALID"} <= set(answer["never"])
    assert answer["rules"]["O-REST"] == 80


def test_a_pipe_is_no_source_and_nothing_waits_for_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for source in (f"policy:{tmp_path / 'pipe.json'}", f"traces:{tmp_path}"):
        assert parity("run", "--source", source) == 2
        said = capsys.readouterr().err
        assert "it is a pipe, a device or the like" in said
        assert said.count("\n") == 1
    for source in ("policy:", "traces:"):
        assert parity("run", "--source", source + "x" * 300) == 2


def test_coverage_counts_rules_on_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = run_json(capsys, "coverage", "--steps", "300")
    assert code == 0
    assert answer["never"] == []
    assert set(answer["rules"]) == set(toy_world.WORLD.marks.values())
    assert all(mark["expected"] == mark["observed"] > 0 for mark in answer["marks"])


def test_a_mark_counted_on_one_side_only_is_a_divergence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, answer = run_json(capsys, "coverage", "--engines", "plain,miscounting", "--out", tmp_path)
    assert code == 1
    assert answer["unequal_marks"] == ["sting"]
    assert answer["divergences"][0]["fields"] == ["marks[sting]"]
    assert parity("replay", tmp_path / "trace.json") == 1


def test_coverage_fails_on_a_rule_that_is_never_hit(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = run_json(capsys, "coverage", "--steps", "200", "--invalid", "0", "--source", "uniform")
    assert code == 1
    assert answer["identical"] is True
    # An ended game is restarted at once, so nobody acts in one: without invalid actions the rule stays silent.
    assert answer["never"] == ["O-INVALID"]
    assert answer["silent_marks"] == ["invalid"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "--engines", "plain"], "does not name two engines"),
        (["run", "--engines", "plain,swift"], "has no engine 'swift': choose among plain, planes"),
        (["run", "--steps", "0"], "must be a whole number from 1 to 2,147,483,647, got '0'"),
        (["run", "--source", "magic"], "there is no source 'magic'"),
        (["run", "--source", "policy:/nowhere/p"], "there is no policy file /nowhere/p"),
        (["run", "--source", "traces:/nowhere"], "no trace files"),
        (["run", "--world", "nowhere"], "there is no world 'nowhere'"),
        (["run", "--step", "3"], "unrecognized arguments: --step 3"),
        (["replay", "/nowhere.json"], "there is no trace file /nowhere.json"),
        (["replay"], "the following arguments are required: trace"),
        (["mutants", "--engine", "plain"], "no mutants of engine 'plain': choose among planes"),
        (["mutants", "--only", "nothing"], "there is no mutant 'nothing'"),
        (["rewards", "--golden", "/nowhere"], "no trace files"),
        (["record", "--source", "traces:x"], "episodes are recorded from new play"),
        (["dance"], "invalid choice: 'dance'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_wrong_usage_is_one_sentence_and_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = "--world" in arguments or not arguments or arguments[0] == "dance"
    full = arguments if named else [arguments[0], "--world", ORCHARD, *arguments[1:]]
    try:
        code: Any = main(full)
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert sentence in said.err
    assert said.err.startswith("parity")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--source", "traces:traces"],
        ["coverage", "--source", "traces:traces"],
        ["mutants", "--source", "traces:traces", "--only", "no-op"],
        ["replay", "traces/t.json"],
    ],
)
def test_comparing_no_step_is_no_success(
    command: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trace = Trace(ORCHARD, ("plain", "planes"), Case((), seed=3), components=())
    write_trace(trace, Path("traces/t.json"))
    assert parity(*command) in (2, 3)
    said = capsys.readouterr()
    assert "holds no actions, so that no step is compared: give traces with some." in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
    # where the engines once differed at the start, that they agree there now tells something
    write_trace(replace(trace, differences=(Difference("state.hp", 1, 2),)), Path("traces/t.json"))
    assert parity(*command) == (0 if command[0] in ("run", "replay") else 1)


def test_golden_episodes_without_a_reward_are_no_success(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_trace(Trace(ORCHARD, ("plain", "planes"), Case((), seed=3), components=()), tmp_path / "t.json")
    assert parity("rewards", "--golden", tmp_path) == 2
    assert f"the episodes in {tmp_path} hold no rewards to compare" in capsys.readouterr().err


def test_a_world_without_marks_has_no_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    toy_world.BARE = replace(toy_world.WORLD, marks={})  # type: ignore[attr-defined]
    assert main(["coverage", "--world", "toy_world:BARE"]) == 2
    assert "names no marks" in capsys.readouterr().err
    toy_world.BARE = replace(toy_world.WORLD, rules=("O-START", "O-GHOST"))  # type: ignore[attr-defined]
    assert main(["coverage", "--world", "toy_world:BARE"]) == 2
    assert "rule O-GHOST of world 'orchard' has no mark" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [
        ("dying", r"failed in step: BrokenPipeError: .* It was after 2 steps of each game, seed 0"),
        ("hanging", "gave no answer to step within 0.2 seconds"),
        ("hungry", "engine 'hungry' needs more memory in step than there is: give fewer --games"),
    ],
)
def test_a_failing_engine_is_one_sentence_and_3(engine: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert parity("run", "--engines", f"plain,{engine}", "--timeout", "0.2") == 3
    said = capsys.readouterr().err
    assert re.search(sentence, said)
    assert said.count("\n") == 1


def test_too_little_memory_outside_an_engine_is_one_sentence_and_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("parity.commands.run_lockstep", fail)
    assert parity("run") == 2
    assert capsys.readouterr().err == "parity: this needs more memory than there is: give fewer --games.\n"


def test_a_trace_with_actions_that_the_world_lacks_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_trace(Trace(ORCHARD, ("plain", "planes"), Case((17,), seed=0)), tmp_path / "t.json")
    for command in (["replay", str(tmp_path / "t.json")], ["run", "--source", f"traces:{tmp_path}"]):
        assert parity(*command) == 2
        assert "holds action 17, which world 'orchard' does not have" in capsys.readouterr().err

"""The command ``rlparity``: what it prints and writes, and how it ends."""

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path

import faulty_orchard
import numpy as np
import pytest
from command_line import ORCHARD, commands_of, orchard, rlparity, run
from numpy.typing import NDArray
from orchard.plain import PlainEngine
from orchard.planes import PlanesEngine
from written_page import episode_data, page_data

from rlparity import BatchStep
from rlparity.cli import commands
from rlparity.cli.main import build_parser, main
from rlparity.core.compare import Difference
from rlparity.core.trace import Case, Trace, read_trace, write_trace
from rlparity.errors import UsageError
from rlparity.tools.coverage import coverage_of

EMPTY = Trace(ORCHARD, ("plain", "planes"), Case((), seed=3), components=())


def test_a_divergence_is_shrunk_reported_and_replayed(tmp_path: Path) -> None:
    out = tmp_path / "my reports"
    ran = rlparity("run", "--engines", "plain,restless", "--out", out)
    assert ran.code == 1
    assert "plain and restless differ after 1 action: rest (5)." in ran.out
    assert "state.hp" in ran.out
    assert "O-REST" in ran.out
    equal = rlparity("replay", out / "trace.json", "--engines", "plain,planes")
    assert (equal.code, "plain and planes agree on this case." in equal.out) == (0, True)

    trace = read_trace(out / "trace.json")
    assert trace.case.actions == (5,)
    assert trace.found is not None
    assert len(trace.found.actions) > 1
    assert {found.field for found in trace.differences} == {"observation[0: hp]", "state.hp"}

    # The page holds both boards of every step and marks what differs; nothing is loaded from elsewhere.
    text = (out / "trace.html").read_text(encoding="utf-8")
    assert not any(outside in text for outside in ("http:", "https:", "src=", "@import", "<link"))
    data = page_data(text)
    assert data["sides"] == ["plain", "restless"]
    assert data["command"] == f"rlparity replay --world {ORCHARD} '{out / 'trace.json'}'"
    assert data["about"][0].startswith("DIVERGENT. World orchard. Start: ")
    assert data["about"][-2:] == ["Rules in play: O-REST, O-WASP.", "The engines first differ in phase 'walker'."]
    (listed,) = data["episodes"]
    assert listed["differs"] == 1
    start, last = episode_data(text, 0)["steps"]
    assert start.keys() == {"action", "boards", "marks"}
    assert (start["action"], last["action"], last["scalars"]) == ("start", "rest (5)", ["hp"])
    assert ["state.hp", "2", "1"] in last["differences"]
    assert [dict(board["scalars"])["hp"] for board in last["boards"]] == ["2", "1"]
    assert len(last["boards"][0]["rows"]) == 4


def test_a_difference_only_within_a_batch_is_said_to_be_one(tmp_path: Path) -> None:
    ran = rlparity("run", "--engines", "planes,leaky", "--games", "8", "--out", tmp_path)
    assert (ran.code, "state.score" in ran.out) == (1, True)
    assert "differ within a batch, but not when this game is played alone" in ran.out
    text = (tmp_path / "trace.html").read_text(encoding="utf-8")
    assert episode_data(text, 0)["inBatch"][0][0] == "observation[1: score]"


class _Twice(PlanesEngine):
    """Two faults: resting costs nothing, and a pick counts once more."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        valid = self.mask()[np.arange(self.games), actions]
        step = super().step(actions)
        self.score += valid & (actions == 4)
        step.components[valid & (actions == 5), 0] = 0
        return replace(step, observation=self.observe())


def test_each_kind_of_divergence_gets_its_own_files_and_traces_are_a_source(tmp_path: Path) -> None:
    world = orchard(engines={"plain": PlainEngine, "twice": _Twice})
    ran = rlparity("run", "--engines", "plain,twice", "--max-divergences", "60", "--out", tmp_path, world=world)
    assert ran.code == 1
    found = re.findall(r"differ after 1 action: (\w+)", ran.out)
    assert sorted(found) == ["pick", "rest"]
    assert sum(map(int, re.findall(r"\((\d+) more with the same action and fields\)", ran.out))) == 58
    assert {path.name for path in tmp_path.iterdir()} == {"trace.json", "trace.html", "trace-2.json", "trace-2.html"}
    words = "run", "--source", f"traces:{tmp_path}", "--json"
    ran = rlparity(*words)
    assert (ran.code, ran.json["episodes"], ran.json["steps_compared"]) == (0, 2, 2)
    ran = rlparity(*words, "--engines", "plain,twice", "--no-report", world=world)
    assert (ran.code, ran.json["divergences"][0]["step"]) == (1, 1)


def test_nan_and_infinity_are_texts_in_strict_json(tmp_path: Path) -> None:
    told = {"observation[0: hp]": "NaN", "reward": "-Infinity", "components": "float64 (3,)"}
    assert rlparity("run", "--engines", "planes,nan", "--out", tmp_path).code == 1
    ran = rlparity("replay", tmp_path / "trace.json", "--json")
    assert ran.code == 1
    for text in ((tmp_path / "trace.json").read_text(), ran.out):
        value = json.loads(text, parse_constant=pytest.fail)
        assert {each["field"]: each["observed"] for each in value["differences"]} == told
    read = {each.field: str(each.observed) for each in read_trace(tmp_path / "trace.json").differences}
    assert read == {**told, "observation[0: hp]": "nan", "reward": "-inf"}
    (_, step) = episode_data((tmp_path / "trace.html").read_text(), 0)["steps"]
    assert {field: observed for field, _, observed in step["differences"]} == told


def test_a_mark_counted_on_one_side_only_is_a_divergence(tmp_path: Path) -> None:
    ran = rlparity("coverage", "--engines", "plain,miscounting", "--out", tmp_path, "--json")
    assert (ran.code, ran.json["unequal_marks"]) == (1, ["sting"])
    assert ran.json["divergences"][0]["fields"] == ["marks[sting]"]
    assert rlparity("replay", tmp_path / "trace.json").code == 1


def test_a_rule_is_hit_as_often_as_on_the_side_where_it_fired_less() -> None:
    marks = {"a.one": "A", "a.two": "A", "b": "B", "c": "C", "d": "D"}
    world = replace(faulty_orchard.WORLD, marks=marks, rules=("A", "B", "C", "D"))
    found = coverage_of(world, (np.array([3, 20, 5, 0, 9]), np.array([3, 7, 0, 0, 9])))
    assert found.rules == {"A": 10, "B": 0, "C": 0, "D": 9}
    assert (found.never, found.silent_marks, found.unequal_marks) == (["B", "C"], ["c"], ["a.two", "b"])
    assert found.rare == ["D"]  # fewer than ten times


def test_coverage_counts_rules_on_both_sides_and_fails_on_one_that_is_never_hit() -> None:
    ran = rlparity("coverage", "--steps", "60", "--games", "32", "--json")
    assert (ran.code, ran.json["never"]) == (0, [])
    assert set(ran.json["rules"]) == set(faulty_orchard.WORLD.marks.values())
    assert all(mark["expected"] == mark["observed"] > 0 for mark in ran.json["marks"])
    ran = rlparity("coverage", "--steps", "40", "--games", "32", "--invalid", "0", "--source", "uniform", "--json")
    assert (ran.code, ran.json["verdict"]) == (1, "LIMITED")
    # An ended game is restarted at once, so nobody acts in one: without invalid actions the rule stays silent.
    assert (ran.json["never"], ran.json["silent_marks"]) == (["O-INVALID"], ["invalid"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "--engines", "plain"], "does not name two engines"),
        (["run", "--engines", "plain,swift"], "has no engine 'swift': choose among plain, planes"),
        (["run", "--steps", "0"], "must be a whole number from 1 to 2,147,483,647, got '0'"),
        (["run", "--source", "magic"], "there is no source 'magic'"),
        (["run", "--source", "policy:/nowhere/p"], "there is no policy file /nowhere/p"),
        (["run", "--source", "traces:/nowhere"], "no trace files"),
        (["run", "--source", f"policy:{'x' * 300}"], "x is no agent: "),
        (["run", "--source", f"traces:{'x' * 300}"], "no trace files"),
        (["run", "--world", "nowhere"], "there is no world 'nowhere'"),
        (["run", "--world", "orchard.plain:MARKS"], "is of type dict, not a rlparity.World"),
        (
            ["run", "--step", "3"],
            "rlparity run: unrecognized arguments: --step 3; did you mean --steps? (see `rlparity run --help`)",
        ),
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
def test_wrong_usage_is_one_sentence_and_2(arguments: list[str], sentence: str) -> None:
    named = "--world" in arguments or not arguments or arguments[0] == "dance"
    ran = run(main, *arguments) if named else rlparity(*arguments)
    assert sentence in ran.refusal()
    assert ran.err.startswith("rlparity")


@pytest.mark.parametrize(
    ("words", "said", "since"),
    [
        ("run --source traces:traces", "INCONCLUSIVE: too few steps are compared", 0),
        ("coverage --source traces:traces", "INCONCLUSIVE: too few steps are compared", 1),
        ("replay traces/t.json", "INCONCLUSIVE: no step is compared: give a trace with actions.", 0),
    ],
)
def test_comparing_no_step_is_no_success(
    words: str, said: str, since: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trace(EMPTY, Path("traces/t.json"))
    ran = rlparity(*words.split())
    assert (ran.code, said in ran.out) == (2, True)
    # where the engines once differed at the start, that they agree there now tells something
    write_trace(replace(EMPTY, differences=(Difference("state.hp", 1, 2),)), Path("traces/t.json"))
    assert rlparity(*words.split()).code == since


def test_episodes_without_rewards_are_none_to_compare(tmp_path: Path) -> None:
    write_trace(EMPTY, tmp_path / "t.json")
    assert "hold no rewards to compare" in rlparity("rewards", "--golden", tmp_path).refusal()


@pytest.mark.parametrize(
    ("lacks", "sentence"),
    [
        ({"marks": {}}, "names no marks"),
        ({"rules": ("O-START", "O-GHOST")}, "rule O-GHOST of world 'orchard' has no mark"),
    ],
)
def test_a_world_without_marks_has_no_coverage(lacks: dict[str, object], sentence: str) -> None:
    assert sentence in rlparity("coverage", world=orchard(**lacks)).refusal()


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [
        ("dying", r"failed in step: BrokenPipeError: .* That was after 2 steps, with seed 0"),
        ("hanging", "gave no answer to step within 0.2 seconds"),
        ("quitting", "failed in step: SystemExit: 0 "),
        ("hungry", "engine 'hungry' needs more memory in step than there is: give fewer --games"),
    ],
)
def test_a_failing_engine_is_one_sentence_and_3(engine: str, sentence: str) -> None:
    timeout = "0.2" if engine == "hanging" else "60"
    assert re.search(sentence, rlparity("run", "--engines", f"plain,{engine}", "--timeout", timeout).refusal(3))


def test_too_little_memory_outside_an_engine_is_one_sentence_and_2(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("rlparity.cli.commands.run_lockstep", fail)
    assert rlparity("run") == (2, "", "rlparity: this needs more memory than there is: give fewer --games.\n")


@pytest.mark.parametrize(
    ("error", "words", "code", "last"),
    [
        (KeyError("a"), (), 3, "rlparity run: this is a bug of the program: report it with the traceback above."),
        (UsageError("no."), ("--traceback",), 2, "rlparity: no."),
        (BrokenPipeError(), (), 141, ""),
    ],
)
def test_what_nobody_expects_never_ends_with_1_which_means_that_engines_differ(
    error: Exception, words: tuple[str, ...], code: int, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("rlparity.cli.commands.run_lockstep", fail)
    monkeypatch.setattr("rlparity.cli.main.discard_output", lambda: None)
    ran = run(main, *words, "run", "--world", ORCHARD)
    assert (ran.code, (ran.err.splitlines() or [""])[-1]) == (code, last)
    assert ("Traceback" in ran.err) is (code != 141)


def test_a_world_that_ends_the_process_when_it_is_imported_is_one_sentence_and_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quitting_world.py").write_text("raise SystemExit(0)")
    monkeypatch.syspath_prepend(tmp_path)
    assert "cannot be imported (SystemExit: 0)" in rlparity("run", world="quitting_world:WORLD").refusal()


@pytest.mark.parametrize("parser", commands_of(build_parser()).values(), ids=lambda parser: parser.prog)
def test_help_names_no_world_of_this_repository_and_its_examples_are_commands(parser: argparse.ArgumentParser) -> None:
    text = parser.format_help()
    assert re.findall(r"hackmatrix|goodharts|orchard|swift|rlworldkit", text, re.IGNORECASE) == []
    title, examples, exit_codes = str(parser.epilog).split("\n\n")
    assert (title, exit_codes.partition(":")[0]) == ("Examples:", "Exit codes")
    assert examples in text
    commands = [line.split() for line in examples.replace("\\\n", "").splitlines()]
    assert any(" ".join(words).startswith(parser.prog) for words in commands)
    for _, *words in commands:
        build_parser().parse_args(words)


def test_a_long_run_off_a_terminal_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "--steps", "3", "--games", "4", "--no-report"
    assert rlparity("run", *words).err == ""
    monkeypatch.setattr(commands, "PROGRESS_SECONDS", 0.0)
    ran = rlparity("run", *words)
    assert re.fullmatch(r"(steps of each game: [123] of 3, \d+ s left\n){3}", ran.err)
    assert rlparity("run", *words, "--json").err == ""

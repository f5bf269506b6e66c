"""Ledgers of known differences: what an entry explains passes, and nothing else does."""

import json
import shutil
import sys
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import faulty_orchard
import numpy as np
import pytest
from command_line import ORCHARD, Ran, orchard, rlparity, run
from faulty_orchard import changed, picks_more
from numpy.typing import NDArray
from orchard.plain import PlainEngine
from orchard.planes import PlanesEngine

from rlparity import BatchStep, State, UsageError
from rlparity.cli.main import main
from rlparity.core.ledger import installed_versions, read_ledger
from rlparity.core.lockstep import Settings
from rlparity.engines.places import with_remote_engines
from rlparity.testing import assert_lockstep
from rlparity.tools.mutant_judges import LockstepJudge
from rlparity.tools.mutants import CAUGHT, mutated_text
from rlparity.tools.project import checks_of

PICK, REST = 4, 5
RUN = "run", "--engines", "plain,other", "--steps", "60", "--games", "8"


class RestsForNothing(PlanesEngine):
    """Resting costs no step: nothing but the reward shows it, and games go on the same."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        rests = self.mask()[np.arange(self.games), actions] & (actions == REST)
        step = super().step(actions)
        step.components[rests, 0], step.reward[rests] = 0, step.components[rests, 1:].sum(axis=1) / np.float32(1000)
        return step


def with_other(engine: type[PlanesEngine]) -> str:
    """What ``--world`` is given for Orchard with this engine as its second."""
    return orchard(engines={"plain": PlainEngine, "other": engine})


def ledger_command(command: str, *words: str | Path, world: str = ORCHARD) -> Ran:
    return run(main, "ledger", command, "--world", world, *words)


def add(folder: Path, engine: type[PlanesEngine], then: str, share: str = "0.5", name: str = "known") -> Path:
    """A ledger with an entry of the first difference of an engine."""
    world, file = with_other(engine), folder / "known-differences.toml"
    assert rlparity(*RUN, "--out", folder, world=world).code == 1
    words = "--id", name, "--kind", "bug", "--citation", "its docstring", "--then", then, "--share", share
    added = ledger_command("add", file, "--trace", folder / "trace.json", *words, "--package", "numpy", world=world)
    assert (added.code, added.err) == (0, "")
    return file


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return add(tmp_path_factory.mktemp("ledger"), picks_more(), "resynchronise")


@pytest.fixture
def ledger(written: Path, tmp_path: Path) -> Path:
    """That picks count one more, where the other engine is brought back; beside the trace of it."""
    shutil.copy(written.with_name("trace.json"), tmp_path)
    return Path(shutil.copy(written, tmp_path))


def ran(ledger: Path, engine: type[PlanesEngine], *words: str) -> Ran:
    return rlparity(*RUN, *words, "--ledger", ledger, "--no-report", "--json", world=with_other(engine))


def edited(ledger: Path, old: str, new: str) -> Path:
    text = ledger.read_text()
    assert old in text
    ledger.write_text(text.replace(old, new, 1))
    return ledger


def test_with_an_entry_written_from_a_divergence_the_run_passes(ledger: Path) -> None:
    (entry,) = read_ledger(ledger).entries
    assert (entry.id, entry.kind, entry.citation, entry.share) == ("known", "bug", "its docstring", 0.5)
    assert (entry.worlds, entry.engines, entry.actions) == (("orchard",), ("plain", "other"), ("pick",))
    assert entry.fields == ("observation[1: score]", "state.score")
    assert entry.versions == {"numpy": version("numpy")}
    assert len(entry.witness.case.actions) == 1
    (_, score) = entry.witness.differences
    assert score.observed == score.expected + 1

    found = ran(ledger, picks_more())
    assert (found.code, found.json["verdict"]) == (0, "PASS")
    assert found.json["known"]["known"] > 10
    # each game that goes on after its first pick, or begins anew, picks again
    assert 0 < found.json["met"]["known"] <= found.json["games_begun"] == 8 + found.json["episodes"]
    text = rlparity(*RUN, "--ledger", ledger, world=with_other(picks_more())).out
    assert f"PASS but for {found.json['known']['known']} known differences" in text
    assert ledger_command("check", ledger, world=with_other(picks_more())).out == "All witnesses hold (1).\n"


def test_an_entry_of_another_world_is_added(ledger: Path) -> None:
    trace = ledger.with_name("trace.json")
    words = "--id", "again", "--kind", "bug", "--citation", "its docstring", "--then", "ignore", "--package", "numpy"
    world = orchard(engines={"plain": PlainEngine, "other": picks_more()}, name="other-orchard")
    added = ledger_command("add", ledger, "--trace", trace, *words, world=world)
    assert (added.code, added.err) == (0, "")
    assert read_ledger(ledger).worlds == ("orchard", "other-orchard")
    assert [entry.worlds for entry in read_ledger(ledger).entries] == [("orchard",), ("other-orchard",)]


@pytest.mark.parametrize(
    ("then", "words", "code"),
    [
        ("resynchronise", ["--auto-reset"], 0),
        ("resynchronise", ["--mode", "injected"], 0),
        ("resynchronise", ["--mode", "resynchronised"], 0),
        ("drop", [], 0),
        ("ignore", [], 1),  # the score goes on to differ, in steps that pick nothing
    ],
)
def test_a_run_goes_on_as_the_entry_says(then: str, words: list[str], code: int, ledger: Path) -> None:
    assert ran(edited(ledger, "resynchronise", then), picks_more(), *words).code == code


def test_a_difference_after_which_games_go_on_the_same_is_ignored(tmp_path: Path) -> None:
    assert ran(add(tmp_path, RestsForNothing, "ignore"), RestsForNothing).code == 0


def another_field(engine: PlanesEngine, wrong: NDArray[np.bool_], step: BatchStep) -> None:
    step.components[wrong, 2] = 1


def test_recorded_games_are_explained_too(ledger: Path, tmp_path: Path) -> None:
    (trace := tmp_path / "trace.json").with_name("again.json").write_text(trace.read_text())
    found = ran(ledger, picks_more(), "--source", f"traces:{tmp_path}").json
    assert (found["known"], found["met"], found["games_begun"]) == ({"known": 2}, {"known": 2}, 2)
    assert len(ran(ledger, picks_more(also=another_field), "--source", f"traces:{tmp_path}").json["divergences"]) == 1


def test_a_second_fault_in_the_same_step_is_not_absorbed(ledger: Path, tmp_path: Path) -> None:
    two = picks_more(3, another_field)
    rlparity(*RUN, "--ledger", ledger, "--out", tmp_path, world=with_other(two))
    divergence = json.loads((tmp_path / "trace.json").read_text())
    fields = {each["field"] for each in divergence["differences"]}
    assert fields == {"observation[1: score]", "state.score", "components[sting]"}
    assert len(divergence["actions"]) == 1


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("share = 0.5", "share = 0.001", "Entry 'known' explains "),
        ('["pick"]', '["rest"]', "The witness of entry 'known' does not fit the entry"),
        ('"observed": ', '"observed": 1', "The witness of entry 'known' shows observation[1: score]"),
    ],
)
def test_what_an_entry_says_must_be_so(old: str, new: str, fault: str, ledger: Path) -> None:
    found = ran(edited(ledger, old, new), picks_more())
    assert found.code == 1
    assert found.json["reasons"][0]["subject"].startswith(fault)


def test_an_entry_of_a_corrected_fault_fails(ledger: Path) -> None:
    found = ran(ledger, PlanesEngine)
    assert (found.code, found.json["divergences"]) == (1, [])
    (gone,) = found.json["reasons"]
    assert gone["subject"].startswith("The witness of entry 'known' shows no difference, and what is pinned is obs")
    assert ledger_command("check", ledger, world=with_other(PlanesEngine)).code == 1


def test_a_failing_engine_is_not_explained(ledger: Path) -> None:
    def die(engine: Any, wrong: NDArray[np.bool_], step: BatchStep) -> None:  # noqa: ANN401 - as PicksMore
        engine.taken += 1
        if engine.games > 1 and engine.taken > 8:
            raise BrokenPipeError("the process has gone")

    assert "engine 'other' failed in step" in ran(ledger, picks_more(also=die)).refusal(3)


def not_first(state: State, action: int | str | None) -> bool:
    return action == PICK and state["turn"] > 0


@pytest.mark.parametrize(
    ("when", "code"),
    [
        ('{ score = { min = 0 }, "apples[0].ripeness" = { min = 1, max = 3 } }', 0),
        ("{ score = { max = 2 } }", 1),
        ("{ none = 0 }", 1),
        ('"faulty_orchard:not_first"', 1),
        ('"faulty_orchard:always"', 0),
    ],
)
def test_a_condition_on_the_state_before_narrows_an_entry(
    when: str, code: int, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faulty_orchard, "not_first", not_first, raising=False)
    monkeypatch.setattr(faulty_orchard, "always", lambda state, action: True, raising=False)
    assert ran(edited(ledger, "share =", f"when = {when}\nshare ="), picks_more()).code == code


def test_any_index_may_be_meant_but_every_field_must_differ(ledger: Path) -> None:
    assert ran(edited(ledger, '"observation[1: score]"', '"observation[*]"'), picks_more()).code == 0
    assert ran(edited(ledger, '"state.score"', '"state.score", "reward"'), picks_more()).code == 1


def test_a_difference_that_two_entries_explain_is_an_error(ledger: Path) -> None:
    text = ledger.read_text()
    ledger.write_text(text + text.partition("\n")[2].replace("entries.known", "entries.again"))
    said = ran(ledger, picks_more()).refusal()
    assert f"in {ledger} both 'known' and 'again' explain observation[1: score], state.score" in said


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("worlds", "world", "must hold a list of names `worlds`, tables [entries.ID] and nothing else"),
        ('worlds = ["orchard"]\n\n', 'worlds = ["other"]\n\n', "the world 'orchard' is not among the file's own"),
        ("share", "shares", "there is no key 'shares': choose among kind, citation"),
        ("share = 0.5", "share = true", "share must be a number from 0 to 1, got True"),
        ('"bug"', '"big"', "kind must be bug or deliberate or format or rounding, got 'big'"),
        ('then = "resynchronise"', "", "it lacks then: add it"),
        ("witness = ", "actions = ", "cannot be read as a ledger: it is no TOML"),
        ('"actions": ', '"acts": ', "the witness of entry 'known' of"),
        ('"actions": [', '"actions": [[0, 1], ', "holds action (0, 1), which world 'orchard' does not have"),
        ('["pick"]', '["pluck"]', "world 'orchard' has no action 'pluck'"),
        ('"numpy" = "', '"numpy" = "0', "look at it again"),
        ("share =", 'when = "no_module:f"\nshare =', "the condition of entry 'known' fails with ModuleNotFoundError"),
        ("share =", "when = { state.hp = 1 }\nshare =", "when must be module:function, or a table of values"),
        ("entries.known", "entries", "must hold a list of names"),
    ],
)
def test_a_wrong_ledger_is_one_sentence(old: str, new: str, fault: str, ledger: Path) -> None:
    assert fault in ran(edited(ledger, old, new), picks_more()).refusal()


def test_of_a_world_that_the_file_does_not_name_nothing_is_known(ledger: Path) -> None:
    ledger.write_text(ledger.read_text().replace('worlds = ["orchard"]', 'worlds = ["other"]'))
    assert (ran(ledger, PlanesEngine).code, ran(ledger, picks_more()).code) == (0, 1)


def test_a_run_too_short_to_show_an_entry_passes_for_its_witness_does(ledger: Path) -> None:
    found = ran(ledger, picks_more(), "--steps", "1", "--games", "1")
    assert (found.code, found.json["known"]) == (0, {"known": 0})


SHOWS_MORE = changed(picks_more(), observe=lambda engine, seen: seen + np.float32(np.arange(34) == 0))
"""Shows another hp in every observation, too."""


@pytest.mark.parametrize(("mode", "then"), [("strict", "resynchronise"), ("resynchronised", "drop")])
def test_several_entries_explain_a_step_each_its_own_fields(mode: str, then: str, tmp_path: Path) -> None:
    shown = edited(add(tmp_path, SHOWS_MORE, "ignore", "1", "shown"), 'actions = ["start"]\n', "")
    assert read_ledger(shown).entries[0].fields == ("observation[0: hp]",)
    only_shown = ran(shown, SHOWS_MORE)
    (found,) = only_shown.json["divergences"]
    assert (only_shown.code, found["fields"]) == (1, ["observation[0: hp]", "observation[1: score]", "state.score"])

    world = with_other(SHOWS_MORE)
    assert rlparity(*RUN, "--ledger", shown, "--out", tmp_path, world=world).code == 1
    words = "--id", "picks", "--kind", "bug", "--citation", "c", "--then", then, "--share", "0.5", "--package", "numpy"
    assert ledger_command("add", shown, "--trace", tmp_path / "trace.json", *words, world=world).code == 0
    both = edited(shown, '"observation[0: hp]", "observation[1: score]"', '"observation[1: score]"')
    assert ledger_command("check", both, world=world).out == "All witnesses hold (2).\n"
    explained = ran(both, SHOWS_MORE, "--mode", mode)
    assert (explained.code, explained.json["known"]["picks"] > 10) == (0, True)


def test_what_one_entry_explains_no_other_takes_part_in(ledger: Path) -> None:
    text = edited(ledger, '"observation[1: score]", "state.score"', '"observation[1: score]"').read_text()
    again = text.partition("\n")[2].replace("entries.known", "entries.again")
    ledger.write_text(text + again.replace('"observation[1: score]"]', '"observation[*]", "state.score"]'))
    (fault,) = ran(ledger, picks_more()).json["reasons"]
    assert fault["subject"].startswith("The witness of entry 'known' does not fit the entry")


def test_a_game_is_not_dropped_at_its_start(ledger: Path) -> None:
    edited(edited(ledger, "resynchronise", "drop"), '["pick"]', '["start"]')
    assert "a game cannot be dropped at its start" in ran(ledger, picks_more()).refusal()


def test_what_cannot_be_held_to_a_ledger_is_refused(ledger: Path, tmp_path: Path) -> None:
    run = "run", "--engines", "plain,other", "--steps", "2", "--games", "2", "--ledger"
    assert "there is no ledger" in rlparity(*run, tmp_path / "none.toml", world=with_other(PlanesEngine)).refusal()
    free = "--mode", "free-running", "--ledger"
    assert "goes with no tape, no --ledger" in rlparity("run", *free, ledger).refusal()
    assert (
        "leave --world, --engine, --ledger and --generate out"
        in rlparity("mutants", "--tests", "x", "--ledger", ledger).refusal()
    )
    replaying = replace(faulty_orchard.WORLD, states_replay=True, engines={"plain": PlainEngine, "other": PlanesEngine})
    with pytest.raises(UsageError, match="have no states to resynchronise: say drop or ignore"):
        assert_lockstep(replaying, ledger=ledger)
    added = ledger, "--id", "more", "--kind", "bug", "--citation", "c", "--then", "drop", "--package"
    trace = "--trace", tmp_path / "trace.json"
    assert "stays as it was" in ledger_command("add", *added, "numpy", *trace, world=with_other(PlanesEngine)).refusal()
    assert (
        "is installed for neither"
        in ledger_command("add", *added, "nmpy", *trace, world=with_other(picks_more())).refusal()
    )


def test_a_comparison_of_tests_has_a_ledger(ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engines = {"plain": PlainEngine, "other": picks_more()}
    hold = partial(
        assert_lockstep, replace(faulty_orchard.WORLD, engines=engines), trace=tmp_path / "trace.json", seed=1, steps=60
    )
    with pytest.raises(AssertionError, match="DIVERGENT"):
        hold()
    hold(ledger=ledger)
    edited(ledger, "share = 0.5", "share = 0.001")
    with pytest.raises(AssertionError, match="DIVERGENT: Entry 'known' explains "):
        hold(ledger=ledger)
    monkeypatch.chdir(tmp_path)
    named = {"world": ORCHARD, "ledger": ledger.name}
    assert [check.arguments.get("ledger") for check in checks_of("orchard", named)] == [ledger.name, None]
    with pytest.raises(UsageError, match=r"\[tool.rlparity.worlds.orchard\], ledger: there is no ledger none.toml"):
        list(checks_of("orchard", named | {"ledger": "none.toml"}))


def test_versions_are_those_of_the_place_of_an_engine() -> None:
    name = f"planes@python:{sys.executable}"
    there = with_remote_engines(faulty_orchard.WORLD, ORCHARD, [name]).engines[name]
    assert installed_versions(there, ["numpy", "no-such-package"]) == {"numpy": version("numpy")}
    assert installed_versions(PlanesEngine, ["numpy", "no-such-package"]) == {"numpy": version("numpy")}


def test_a_mutant_is_caught_by_what_the_ledger_does_not_explain(tmp_path: Path) -> None:
    words = "--engines", "double,planes"
    assert rlparity("run", *words, "--out", tmp_path).code == 1
    entry = "--id", "float64", "--kind", "format", "--citation", "c", "--then", "ignore", "--share", "1"
    file = tmp_path / "known.toml"
    trace = "--trace", tmp_path / "trace.json"
    assert ledger_command("add", file, *trace, *words, *entry, "--package", "numpy").code == 0
    known = read_ledger(edited(file, 'actions = ["start"]\n', ""))
    (bench,) = faulty_orchard.WORLD.benches

    judge = LockstepJudge(faulty_orchard.WORLD, ORCHARD, Settings("directed", steps=30, games=8, ledger=known), 60)
    file, fault = shutil.copytree(bench.source / "orchard", tmp_path / "orchard") / "planes.py", bench.mutants[0]
    file.write_text(mutated_text(tmp_path, fault))
    verdict = judge.verdict(replace(bench, reference="double"), fault, tmp_path)
    assert (verdict.result, verdict.detail) == (CAUGHT, "observation, components[sting], reward")

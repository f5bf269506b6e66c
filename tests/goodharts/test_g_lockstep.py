"""The canonical engine and the plain-Python reading play the same games, bit for bit, and count the same marks."""

import json

import numpy as np
import pytest
from reading.worlds import PAIRED

from goodharts.rules import MODES
from goodharts.world import WORLDS
from parity.cli import main
from parity.coverage import coverage_of
from parity.lockstep import Outcome, Settings, run

PAIR = ("torch", "reading")


def played(mode: str, settings: Settings) -> Outcome:
    outcome = run(PAIRED[mode], PAIR, settings)
    assert outcome.divergences == []
    return outcome


@pytest.mark.parametrize("mode", MODES)
def test_a_directed_run_is_identical_and_hits_every_mark(mode: str) -> None:
    outcome = played(mode, Settings(source="directed", games=24, steps=40, marks=True))
    assert outcome.marks is not None
    found = coverage_of(PAIRED[mode], outcome.marks)
    assert found.silent_marks() == ()
    assert found.unequal() == ()
    assert found.never() == ()


@pytest.mark.parametrize("mode", MODES)
def test_games_from_their_start_are_identical_where_each_is_followed_by_the_next(mode: str) -> None:
    outcome = played(mode, Settings(games=6, steps=120, seed=9, auto_reset=True))
    assert outcome.episodes > 0 or mode == "proxy"


@pytest.mark.long
@pytest.mark.parametrize("source", ["uniform", "directed"])
@pytest.mark.parametrize("auto_reset", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_long_games_are_identical(mode: str, auto_reset: bool, source: str) -> None:
    played(mode, Settings(source=source, games=48, steps=1100, seed=5, auto_reset=auto_reset))


# --- a world of one engine


@pytest.mark.parametrize("mode", MODES)
def test_the_engine_repeats_itself(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"goodharts-{mode}"
    code = main(["run", "--world", name, "--engines", "torch,torch", "--games", "4", "--steps", "20", "--json"])
    assert code == 0
    assert json.loads(capsys.readouterr().out)["identical"]


@pytest.mark.parametrize("command", ["run", "coverage"])
def test_what_needs_two_engines_says_so(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--world", "goodharts-proxy"]) == 2
    assert capsys.readouterr().err == (
        "parity: world 'goodharts-proxy' has only the engine 'torch': register a second one, or give --engines "
        "torch,torch to see whether it repeats itself.\n"
    )


def test_a_trace_is_replayed_on_the_one_engine(capsys: pytest.CaptureFixture[str]) -> None:
    golden = WORLDS["proxy"].golden
    assert golden is not None
    trace = str(golden / "uniform-100.json")
    assert main(["replay", trace, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["actions"] == 120
    assert main(["replay", trace, "--engines", "torch,reading"]) == 2
    said = capsys.readouterr().err
    assert said == "parity: world 'goodharts-proxy' has no engine 'reading': choose among torch.\n"


def test_there_is_nothing_to_plant_faults_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "--world", "goodharts-proxy"]) == 2
    assert "has no benches and so no mutants" in capsys.readouterr().err


def test_marks_are_counted_only_where_they_are_asked_for() -> None:
    for world in (PAIRED["proxy"], WORLDS["ground_truth"]):
        for factory in world.engines.values():
            engine = factory(1)
            engine.reset(np.zeros(1, np.uint64), np.zeros(1, np.intp))
            assert engine.marks() is None

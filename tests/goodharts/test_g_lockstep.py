"""The torch engine, the JAX engine and the plain-Python reading play the same games, bit for bit, and count alike."""

import command_line
import numpy as np
import pytest
from command_line import parity
from reading_worlds import PAIRED

from goodharts.rules import MODES
from goodharts.world import WORLDS
from parity.cli import main
from parity.coverage import coverage_of
from parity.lockstep import Outcome, Settings, run

READING, JAX = ("torch", "reading"), ("torch", "jax")
COMPILED_BY_DEFAULT = ("proxy", "ground_truth_handhold")
"""Modes that differ in all that the JAX engine compiles differently: most of its tests' time is compiling."""
EVERY_PAIR = pytest.mark.parametrize(
    ("mode", "pair"),
    [
        pytest.param(
            mode,
            pair,
            id=f"{mode}-{pair[1]}",
            marks=pytest.mark.long if pair == JAX and mode not in COMPILED_BY_DEFAULT else (),
        )
        for mode in MODES
        for pair in (READING, JAX)
    ],
)


def played(mode: str, pair: tuple[str, str], settings: Settings) -> Outcome:
    outcome = run(PAIRED[mode], pair, settings)
    assert outcome.divergences == []
    return outcome


@EVERY_PAIR
def test_a_directed_run_is_identical_and_hits_every_mark(mode: str, pair: tuple[str, str]) -> None:
    outcome = played(mode, pair, Settings(source="directed", games=24, steps=40, marks=True))
    assert outcome.marks is not None
    found = coverage_of(PAIRED[mode], outcome.marks)
    assert found.silent_marks() == ()
    assert found.unequal() == ()
    assert found.never() == ()


@EVERY_PAIR
def test_games_from_their_start_are_identical_where_each_is_followed_by_the_next(
    mode: str, pair: tuple[str, str]
) -> None:
    outcome = played(mode, pair, Settings(games=6, steps=120, seed=9, auto_reset=True))
    assert outcome.episodes > 0 or mode == "proxy"


@pytest.mark.long
@pytest.mark.parametrize("source", ["uniform", "directed"])
@pytest.mark.parametrize("auto_reset", [False, True])
@pytest.mark.parametrize("pair", [READING, JAX], ids=["reading", "jax"])
@pytest.mark.parametrize("mode", MODES)
def test_long_games_are_identical(mode: str, pair: tuple[str, str], auto_reset: bool, source: str) -> None:
    played(mode, pair, Settings(source=source, games=48, steps=1100, seed=5, auto_reset=auto_reset))


# --- the world by itself, and one of one engine


@pytest.mark.parametrize("mode", MODES)
def test_the_engine_repeats_itself(mode: str) -> None:
    assert run(WORLDS[mode], ("torch", "torch"), Settings(games=4, steps=20)).divergences == []


@pytest.mark.parametrize("command", ["run", "coverage"])
def test_what_needs_two_engines_says_so(command: str) -> None:
    assert parity(command, world="reading_worlds:ALONE") == (
        2,
        "",
        "parity: world 'goodharts-proxy' has only the engine 'torch': register a second one, or give --engines "
        "torch,torch to see whether it repeats itself.\n",
    )


def test_a_trace_is_replayed_on_the_first_engine() -> None:
    assert WORLDS["proxy"].golden is not None
    trace = WORLDS["proxy"].golden / "uniform-100.json"
    assert command_line.run(main, "replay", trace, "--json").json["actions"] == 120
    refused = command_line.run(main, "replay", trace, "--engines", "torch,reading")
    assert refused.code == 2
    assert refused.sentence == "parity: world 'goodharts-proxy' has no engine 'reading': choose among torch, jax.\n"


def test_marks_are_counted_only_where_they_are_asked_for() -> None:
    for world in (PAIRED["proxy"], WORLDS["ground_truth"]):
        for factory in world.engines.values():
            engine = factory(1)
            engine.reset(np.zeros(1, np.uint64), np.zeros(1, np.intp))
            assert engine.marks() is None

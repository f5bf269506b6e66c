"""Free-running play: what a user sees of two engines' differences, in games that go on after them."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import orchard, rlparity
from faulty_orchard import WORLD, changed
from numpy.typing import NDArray
from orchard.plain import PlainEngine
from orchard.planes import PlanesEngine
from scipy import stats

from rlparity import BatchStep
from rlparity.core.lockstep import Settings, run
from rlparity.core.settings import Effect
from rlparity.core.trace import read_trace
from rlparity.io.intervals import mean_intervals, paired_intervals
from rlparity.io.table import Records

REST = WORLD.actions.index("rest")


GENEROUS = changed(step=lambda _, step: replace(step, reward=step.reward + np.float32(1)))
"""Pays 1 for every step."""
SHORT = changed(step=lambda engine, step: replace(step, terminated=step.terminated | (engine.turn >= 3)))
"""Ends a game after its third turn."""


class TirelessEngine(PlanesEngine):
    """Shows resting as invalid, and knows which actions it was given in games that go on."""

    taken: set[int]

    def mask(self) -> NDArray[np.bool_]:
        mask = super().mask()
        mask[:, REST] = False
        return mask

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        type(self).taken |= {*actions[super().mask().any(axis=1)].tolist()}
        return super().step(actions)


def effect_of(other: Any, **settings: Any) -> Effect:  # noqa: ANN401 - an engine's class; of a run
    world = replace(WORLD, engines={"plain": PlainEngine, "other": other})
    outcome = run(world, ("plain", "other"), Settings(mode="free-running", **{"steps": 40, "games": 16, **settings}))
    assert outcome.effect is not None
    return outcome.effect


@pytest.mark.parametrize("source", ["uniform", "directed"])
def test_equal_engines_have_no_effect(source: str) -> None:
    found = effect_of(PlanesEngine, source=source)
    assert set(found.first.tolist()) == {-1}
    assert all((one == other).all() for one, other in found.measures.values())
    lengths = found.measures["length"][0]
    assert lengths.min() < lengths.max() == 40


def test_rewards_are_compared_to_the_end_of_every_game() -> None:
    found = effect_of(GENEROUS)
    (one, other), (lengths, theirs) = found.measures["return"], found.measures["length"]
    np.testing.assert_allclose(other - one, lengths, rtol=1e-6)
    assert lengths.tolist() == theirs.tolist()
    assert set(found.first.tolist()) == {1}


def test_a_game_that_ends_early_on_one_side_goes_on_on_the_other() -> None:
    found = effect_of(SHORT)
    lengths, theirs = found.measures["length"]
    assert theirs.max() == 3 < lengths.max() == 40
    ended, other = found.measures["terminated"]
    assert (other.tolist(), ended.tolist()) == ([1.0] * 16, (lengths < 40).astype(float).tolist())
    assert set(found.first[lengths > 3].tolist()) == {3}


def test_each_engine_is_acted_on_by_what_it_shows() -> None:
    TirelessEngine.taken = set()
    effect_of(TirelessEngine, invalid=0)
    assert TirelessEngine.taken == set(range(REST))


def test_the_command_measures_and_shows_the_first_difference(tmp_path: Path) -> None:
    world = orchard(engines={"plain": PlainEngine, "other": GENEROUS}, signs={"w": "hidden wasp"})
    words = "run", "--engines", "plain,other", "--steps", "20", "--games", "4", "--mode", "free-running"
    ran = rlparity(*words, "--out", tmp_path, world=world)
    assert (ran.code, "Mode: free-running." in ran.out) == (1, True)
    assert "What is shown differs in 4 of 4 games, first after 1 action, in the median game after 1." in ran.out
    assert "found in mode free-running" in ran.out
    assert "Signs: w hidden wasp\n" in ran.out
    assert read_trace(tmp_path / "trace.json").mode == "free-running"
    found = rlparity(*words, "--no-report", "--json", world=world).json
    assert (found["mode"], found["verdict"], found["effect"]["first"]) == ("free-running", "DIVERGENT", [1, 1, 1, 1])
    by_name = {row["of an episode"]: row["other - plain"] for row in found["effect"]["measures"]}
    assert by_name["length"] == by_name["terminated"] == [0, 0, 0]
    assert by_name["return"][0] == pytest.approx(found["steps_compared"] / 4)
    assert rlparity(*words, "--auto-reset", world=world).code == 2
    assert "or explore: leave them out" in rlparity(*words, "--source", "explore", world=world).refusal()
    assert rlparity("run", *words[3:], "--engines", "plain,planes").code == 0


def test_an_interval_is_that_of_the_percentile_bootstrap_and_never_below_a_count() -> None:
    rare, usual = np.array([0.0] * 37 + [1.0, 1.0, 4.0]), np.random.default_rng(1).normal(3, 2, 40)
    for values, found in zip((rare, usual), mean_intervals(np.stack([rare, usual], axis=1)), strict=True):
        expected = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(2))
        low, high = expected.confidence_interval
        assert found == pytest.approx([values.mean(), low, high], abs=0.05 * (high - low))
    assert mean_intervals(np.full((7, 1), 0.1)) == [[pytest.approx(0.1), 0.1, 0.1]]
    one, other, difference = paired_intervals(np.array([5.0, 1.0]), np.array([7.0, 2.0]))
    assert (one, other[0], difference[0]) == ([3, -math.inf, math.inf], 4.5, 1.5)
    shown = Records("effect", "", ("mean",), [[one]]).texts()
    assert shown == [["3 [–, –]"]], "two games have no interval"

"""Exploration: what a run has seen decides what it tries next."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from faulty_orchard import WORLD, playing
from numpy.typing import NDArray
from orchard.exploration import end_game
from orchard.plain import Game, PlainEngine
from orchard.planes import PlanesEngine

from rlparity import Slots, State, StateRefused
from rlparity.core.features import Features
from rlparity.core.lockstep import Outcome, Settings, run
from rlparity.core.pair import Pair
from rlparity.core.shrink import shrink
from rlparity.engine import Array

EXPLORE = Settings("explore", steps=100, games=16, marks=True)
SEED = 4
"""One with which a game begins without apples, which is rare."""


class RestlessWhenOld(Game):
    """Resting does not heal from turn 64 on, which few games reach, and none in fewer steps but from a late start."""

    def rest(self) -> None:
        self.hp = self.hp if self.turn >= 64 else min(3, self.hp + 1)


LATE = playing(RestlessWhenOld)


def held_to(other: Any, settings: Settings = EXPLORE, **parts: Any) -> Outcome:  # noqa: ANN401 - an engine; of a world
    """A run of the port against another engine."""
    world = replace(WORLD, engines={"planes": PlanesEngine, "other": other}, **parts)
    return run(world, ("planes", "other"), settings)


def test_every_mark_is_reached_and_equal_engines_stay_equal() -> None:
    found = held_to(PlainEngine, replace(EXPLORE, seed=SEED))
    assert found.divergences == []
    assert found.steps == 100 * 16
    assert found.marks[0].tolist() == found.marks[1].tolist()
    assert (found.marks[0] > 0).all()


@pytest.mark.parametrize(
    "settings", [{"mode": "injected"}, {"mode": "resynchronised"}, {"auto_reset": True}, {"invalid": 0.0}]
)
def test_every_way_to_compare_takes_it(settings: dict[str, Any]) -> None:
    assert held_to(PlainEngine, replace(EXPLORE, games=8, steps=30, marks=False, **settings)).divergences == []


def test_play_is_directed_until_it_shows_nothing_new_and_follows_from_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def counts(source: str, seed: int = 0) -> list[int]:
        found = held_to(PlainEngine, replace(EXPLORE, source=source, seed=seed, steps=40, games=8))
        return [*found.marks[0].tolist()]

    directed, explored = counts("directed"), counts("explore")
    assert explored == counts("explore")
    assert explored not in (directed, counts("explore", seed=1))
    monkeypatch.setattr("rlparity.core.explore.STALE", 10**6)
    assert counts("explore") == directed


def test_a_fault_in_a_rare_state_is_found_and_made_small() -> None:
    short = replace(EXPLORE, steps=60)
    assert not any(held_to(LATE, replace(short, source="uniform", seed=seed)).divergences for seed in range(2))
    world = replace(WORLD, engines={"planes": PlanesEngine, "other": LATE})
    for seed in range(3, 5):
        (found,) = run(world, ("planes", "other"), replace(short, seed=seed)).divergences
        with Pair(world, ("planes", "other"), 1) as pair:
            small = shrink(pair, found.case, 20)
        assert small is not None
        assert small.actions == (WORLD.actions.index("rest"),)


def test_a_world_without_starts_and_policies_is_explored_from_the_states_of_its_games() -> None:
    (found,) = held_to(WORLD.engines["restless"], starts={}, policies={}).divergences
    assert found.case.actions[-1] == WORLD.actions.index("rest")


class _Picky(PlanesEngine):
    """Takes no seed but those that the run began with: no mutation that draws another one."""

    known: set[int]
    refused: int

    def set_state(self, states: Sequence[State], slots: Slots) -> Array:
        if any(state["seed"] not in self.known for state in states):
            type(self).refused += 1
            raise StateRefused("its seed is another one.")
        return super().set_state(states, slots)

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        self.known.update(seeds.tolist())
        return super().reset(seeds, slots)


@pytest.mark.parametrize("engines", [("plain", "picky"), ("picky", "plain")])
def test_a_mutation_that_an_engine_refuses_is_dropped_and_its_marks_are_no_difference(engines: tuple[str, str]) -> None:
    picky: type[_Picky] = type("Picky", (_Picky,), {"known": set(), "refused": 0})

    def known_start(rng: np.random.Generator) -> State:
        state = end_game(rng)
        picky.known.add(state["seed"])
        return state

    world = replace(WORLD, engines={"plain": PlainEngine, "picky": picky}, starts={"known": known_start})
    found = run(world, engines, replace(EXPLORE, steps=60))
    assert picky.refused > 0
    assert found.divergences == []
    assert found.marks[0].tolist() == found.marks[1].tolist()


def test_masks_with_as_many_valid_actions_have_different_features() -> None:
    features, goes_on = Features(), np.ones(1, np.bool_)
    first, other = (
        features.of_step({"mask": np.array([mask])}, np.array([0]), goes_on)
        for mask in ((True, True, False), (True, False, True))
    )
    assert (other[:, :2] == first[:, :2]).all()
    assert (other[:, 2:] != first[:, 2:]).any()

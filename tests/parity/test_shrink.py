"""Shrinking: small cases that still show the same fault."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from faulty_orchard import WORLD, changed, playing
from numpy.typing import NDArray
from orchard.plain import PICK, REST, Game, PlainEngine
from orchard.planes import PlanesEngine

from rlparity import BatchStep, State, World
from rlparity.core.lockstep import Settings, run
from rlparity.core.pair import Pair
from rlparity.core.replay import Divergence, differs_at, moments
from rlparity.core.shrink import shrink
from rlparity.core.trace import RESTART, Case
from rlparity.tools.finding import open_alone


@cache
def found_case(other: str, *, marks: bool = False) -> Case:
    return run(WORLD, ("plain", other), Settings(steps=150, games=16, marks=marks)).divergences[0].case


def shrunk(other: str, case: Case, seconds: float = 60.0, world: World = WORLD) -> Case:
    with open_alone(world, ("plain", other), case, timeout=60) as pair:
        small = shrink(pair, case, seconds)
    assert small is not None
    return small


def test_a_long_game_becomes_the_one_action_and_the_least_state() -> None:
    case = found_case("restless")
    assert len(case.actions) > 5
    small = shrunk("restless", case)
    assert small.actions == (REST,)
    assert small.state is not None
    # The fault needs a score of 4 and a game that goes on: hp 1 so that a rest would heal, and an apple.
    assert [small.state[name] for name in ("score", "hp", "seed")] == [4, 1, 0]
    assert len(small.state["apples"]) == 1


def test_a_restart_or_a_mark_alone_is_what_is_left_where_it_is_wrong() -> None:
    restarted = shrunk("forgetful", found_case("forgetful"))
    assert restarted.actions == (RESTART,)
    counted = shrunk("miscounting", found_case("miscounting", marks=True))
    assert (counted.actions, counted.marks) == ((REST,), True)


def test_a_start_gets_a_small_seed_what_agrees_is_not_shrunk_and_without_time_the_case_is_only_cut() -> None:
    assert shrunk("double", Case((0, 1), seed=2**63)) == Case((), seed=0)
    with open_alone(WORLD, ("plain", "planes"), Case((), seed=1), timeout=60) as pair:
        assert shrink(pair, Case((REST,) * 5, seed=1), 60) is None
    case = found_case("restless")
    assert shrunk("restless", replace(case, actions=(*case.actions, REST, REST)), seconds=0) == case


def test_an_engine_whose_states_are_seed_and_actions_is_shrunk_by_its_actions() -> None:
    world = replace(WORLD, states_replay=True)
    case = found_case("restless")
    small = shrunk("restless", case, world=world)
    assert small.state is None
    assert 1 < len(small.actions) < len(case.actions)
    assert small.actions[-1] == REST
    shorter = (small.actions[:index] + small.actions[index + 1 :] for index in range(len(small.actions)))
    with open_alone(WORLD, ("plain", "restless"), case, timeout=60) as pair:
        assert all(differs_at(pair, replace(small, actions=actions)) is None for actions in shorter)


def test_refused_candidates_are_passed_over() -> None:
    def nonsense(state: State) -> Iterator[State]:
        yield {**state, "walker": -1}

    world = replace(WORLD, shrinkers=(nonsense, *WORLD.shrinkers))
    case = found_case("restless")
    assert shrunk("restless", case, world=world) == shrunk("restless", case)


def test_moments_end_with_the_difference_and_name_the_marks_that_fired() -> None:
    case = found_case("restless")
    with open_alone(WORLD, ("plain", "restless"), case, timeout=60) as pair:
        first, *_, last = recorded = moments(pair, replace(case, actions=(*case.actions, REST)))
        assert differs_at(pair, case) == Divergence(case, last.differences)
    assert [bool(moment.differences) for moment in recorded] == [False] * len(case.actions) + [True]
    assert first.marks is not None
    assert first.marks[0].get("start") == 1
    assert last.marks is not None
    assert {"rest", "wasp"} <= last.marks[0].keys()
    assert last.states[0]["hp"] == last.states[1]["hp"] + 1


class _TwoFaults(Game):
    """With a score of 2 a rest does not heal; with less than 4 it counts as two turns."""

    def rest(self) -> None:
        if self.score < 2:
            super().rest()
        self.turn += 0 < self.score < 4


def test_a_case_becomes_none_in_which_another_field_differs_too() -> None:
    world = replace(WORLD, engines={**WORLD.engines, "two faults": playing(_TwoFaults)})
    start = {"seed": 9, "walker": 0, "wasp": 15, "hp": 1, "score": 7, "turn": 0, "apples": [{"cell": 3, "ripeness": 1}]}
    case = Case((REST,), state=start)
    with open_alone(world, ("plain", "two faults"), case, timeout=60) as pair:
        small = shrink(pair, case, 60)
        assert small is not None
        found = differs_at(pair, small)
    assert found is not None
    assert {difference.field for difference in found.differences} == {"observation[0: hp]", "state.hp"}
    assert small.state is not None
    assert small.state["score"] == 4


class _RefusesInvalid(PlainEngine):
    """Fails at an invalid action."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        assert self.mask()[np.arange(self.games), actions].all(), "an invalid action"
        return super().step(actions)


@pytest.mark.parametrize("states_replay", [False, True])
def test_no_invalid_action_is_played_unless_the_case_has_one(states_replay: bool) -> None:
    engines = {**WORLD.engines, "strict": _RefusesInvalid}
    world = replace(WORLD, engines=engines, states_replay=states_replay)
    settings = Settings(steps=150, games=16, invalid=0)
    (found,) = run(world, ("strict", "restless"), settings).divergences
    with Pair(world, ("strict", "restless"), 1) as pair:
        small = shrink(pair, found.case, 60)
        assert small is not None
        assert len(small.actions) < len(found.case.actions)
        assert differs_at(pair, small, only_valid=True) is not None


def test_an_invalid_action_that_shows_the_fault_stays() -> None:
    def pay(engine: PlanesEngine, step: BatchStep) -> BatchStep:
        return replace(step, reward=step.reward + (step.components[:, 0] == 0))

    world = replace(WORLD, engines={**WORLD.engines, "paying": changed(step=pay)})
    small = shrunk("paying", Case((REST, REST, PICK), seed=1), world=world)
    assert small.actions == (PICK,)

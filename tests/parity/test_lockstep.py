"""Lockstep runs: equal engines stay together, and every kind of fault is found."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from faulty_orchard import WORLD, CountingEngine, DrawsOtherwise, changed
from numpy.typing import NDArray
from orchard.planes import PlanesEngine

from rlparity import BatchStep, EngineError, EngineFactory, Slots, State
from rlparity.core.lockstep import Outcome, Settings, run
from rlparity.core.pair import Pair
from rlparity.core.replay import differs_at
from rlparity.core.shrink import shrink
from rlparity.core.trace import RESTART
from rlparity.engine import Array

BASIC = Settings(steps=60, games=8)
REST = WORLD.actions.index("rest")


def outcome(
    other: str | EngineFactory,
    reference: str | EngineFactory = "plain",
    **settings: Any,  # noqa: ANN401 - of a run
) -> Outcome:
    """A run of two engines, each named or given."""
    pair = {"reference": reference, "other": other}
    engines = {name: WORLD.engines[given] if isinstance(given, str) else given for name, given in pair.items()}
    return run(replace(WORLD, engines=engines), ("reference", "other"), replace(BASIC, **settings))


@pytest.mark.parametrize(
    ("engines", "source", "auto_reset"),
    [
        (("plain", "planes"), "uniform", False),
        (("plain", "planes"), "directed", True),
        (("planes", "plain"), "directed", False),
        (("planes", "planes"), "directed", True),
    ],
)
def test_equal_engines_never_differ(engines: tuple[str, str], source: str, auto_reset: bool) -> None:
    found = run(WORLD, engines, replace(BASIC, source=source, auto_reset=auto_reset, marks=True))
    assert found.divergences == []
    assert found.steps == 60 * 8
    assert found.episodes > 8
    assert found.marks[0].tolist() == found.marks[1].tolist()


def test_a_planted_fault_is_found_with_the_actions_that_led_to_it_which_follows_from_the_seed() -> None:
    (found,), same, other = (outcome("restless", seed=seed).divergences for seed in (3, 3, 4))
    assert ([found] == same, [found] == other) == (True, False)
    assert {each.family for each in found.differences} == {"observation", "state"}
    assert found.case.actions[-1] == REST
    assert len(found.case.actions) == found.step
    assert found.case.seed is not None


def test_games_that_differ_are_replaced_by_new_ones_until_enough_have_been_found() -> None:
    found = run(WORLD, ("plain", "restless"), replace(BASIC, games=4, steps=2000, stop_after=6))
    assert len(found.divergences) == 6
    cases = [divergence.case for divergence in found.divergences]
    assert len({case.seed for case in cases}) == 6
    with Pair(WORLD, ("plain", "restless"), 1) as pair:
        assert all(differs_at(pair, case) for case in cases)


def test_games_that_differ_from_their_start_on_end_the_run_too() -> None:
    found = outcome("double", stop_after=40)
    assert [len(divergence.case.actions) for divergence in found.divergences] == [0] * 40


def test_engines_that_draw_otherwise_are_compared_from_the_states_of_the_reference() -> None:
    assert len(outcome(DrawsOtherwise).divergences) == 1
    found = outcome(DrawsOtherwise, mode="injected")
    assert (found.divergences, found.steps) == ([], 60 * 8)
    assert found.episodes > 8
    (divergence,) = outcome("restless", mode="injected").divergences
    assert divergence.case.state is not None


class _TakesNoSeed(PlanesEngine):
    """Begins one and the same game from every seed."""

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        return super().reset(np.full_like(seeds, 7), slots)


@pytest.mark.parametrize("mode", ["injected", "resynchronised"])
def test_of_engines_whose_games_begin_from_seeds_alone_these_are_checked(mode: str) -> None:
    assert outcome(_TakesNoSeed, mode=mode).divergences == []
    with pytest.raises(EngineError, match="'reference' says that a game reset from seed 0 has 7"):
        outcome(_TakesNoSeed, _TakesNoSeed, mode=mode)


ENDS_WRONG = changed(step=lambda _, step: replace(step, reward=step.reward + step.terminated.astype(np.float32)))
"""Pays more in the last step of a game."""


def test_a_game_that_differs_in_its_last_step_is_followed_by_a_new_one_when_resynchronised() -> None:
    found = outcome(ENDS_WRONG, mode="resynchronised", stop_after=1000, games=4, steps=80, invalid=0.2)
    ends = Counter(divergence.game for divergence in found.divergences)
    assert min(ends[game] for game in range(4)) > 1
    assert found.episodes == len(found.divergences)
    assert found.steps == 4 * 80


def test_resynchronised_engines_show_every_difference_in_the_step_where_it_arises() -> None:
    found = outcome("restless", mode="resynchronised", stop_after=10, steps=400)
    assert len(found.divergences) == 10
    assert {len(divergence.case.actions) for divergence in found.divergences} == {1}
    assert all(divergence.case.actions == (REST,) for divergence in found.divergences)


def test_a_wrong_next_game_is_found_at_the_restart() -> None:
    (found,) = outcome("forgetful").divergences
    assert found.case.actions[-1] == RESTART
    assert "seed" in {each.family for each in found.differences}


def slip(engine: PlanesEngine, step: BatchStep) -> BatchStep:
    """An auto-reset after which hp is 3 instead of 2."""
    engine.hp[step.ended] = 3
    return replace(step, observation=engine.observe())


SLIPS = changed(step_restarting=slip)


def test_the_engines_own_auto_reset_is_a_path_of_its_own() -> None:
    assert outcome(SLIPS).divergences == []
    (found,) = outcome(SLIPS, auto_reset=True).divergences
    assert found.case.auto_reset
    assert {difference.field for difference in found.differences} == {"observation[0: hp]", "state.hp"}
    world = replace(WORLD, engines={**WORLD.engines, "slips": SLIPS})
    with Pair(world, ("plain", "slips"), 1) as pair:
        small = shrink(pair, found.case, 60)
    assert small is not None
    assert len(small.actions) == 1


def miscount(engine: PlanesEngine, step: BatchStep) -> BatchStep:
    """Count a mark too often where several games are played."""
    engine.count("rest", int(engine.games > 1))
    return step


def spoil_last(engine: CountingEngine, seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spoil the state only after everything about step 5 was reported."""
    if engine.taken == 5:
        engine.score[0] = 40
        engine.taken += 1
    return seeds


class _LastLook(CountingEngine):
    """Spoils the mask alone, which no state shows, after step 5."""

    looks = 0

    def mask(self) -> NDArray[np.bool_]:
        mask = super().mask()
        self.looks += self.taken == 5
        mask[0, REST] ^= self.looks > 2  # after the step itself has asked, and reported
        return mask


def wrong_turns(first: int, last: int, arrays: Callable[..., Any]) -> type[PlanesEngine]:
    """An engine whose states as dicts name a wrong turn after these steps of a run; what it says as arrays."""

    def spoil(engine: CountingEngine, states: list[State]) -> list[State]:
        return [state | {"turn": state["turn"] + (first <= engine.taken <= last)} for state in states]

    return changed(CountingEngine, get_state=spoil, state_arrays=arrays)


def without_turns(engine: PlanesEngine, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: values for name, values in arrays.items() if name != "turn"}


BLINKING = wrong_turns(4, 4, lambda engine, arrays: None)


@pytest.mark.parametrize(
    ("engine", "reference", "settings", "fields"),
    [
        ("double", "plain", {}, ["observation"]),
        ("miscounting", "plain", {"marks": True}, ["marks[sting]"]),
        (changed(step=miscount), "plain", {"marks": True}, ["marks[rest]"]),
        (changed(CountingEngine, seeds=spoil_last), "plain", {"steps": 5, "invalid": 0}, ["state.score"]),
        # One game, which goes on after its fifth step: nobody asks for its mask again but the last comparison.
        (_LastLook, "plain", {"steps": 5, "games": 1, "seed": 1, "invalid": 0}, ["mask[rest]"]),
        # Where no engine offers arrays, states are compared at every step, and now and then where both do.
        (BLINKING, "plain", {}, ["state.turn"]),
        (BLINKING, "planes", {}, ["state.turn"]),
        (wrong_turns(10, 39, lambda engine, arrays: arrays), "planes", {}, ["state.turn"]),
        # Arrays that leave a field out do not hide it.
        (wrong_turns(9, 80, without_turns), changed(state_arrays=without_turns), {}, ["state.turn"]),
    ],
)
def test_a_fault_is_found_wherever_it_shows(
    engine: str | EngineFactory, reference: str | EngineFactory, settings: dict[str, Any], fields: list[str]
) -> None:
    (found,) = outcome(engine, reference, **settings).divergences
    assert [difference.field for difference in found.differences] == fields


def told(engine: PlanesEngine, step: BatchStep) -> BatchStep:
    """A step with everything that an engine may report."""
    nothing = np.zeros(engine.games, np.uint32)
    return replace(step, truncated=nothing > 0, events=nothing, facts=step.components[:, 1:2].copy())


TALKATIVE = changed(CountingEngine, step=told)
TALKING = replace(WORLD, engines={"honest": TALKATIVE}, facts=("picked",), events=("ripened",))


def lying(method: str, part: str) -> type[PlanesEngine]:
    """An engine that from its fourth step on reports something else in slot 2."""

    def spoiled(values: NDArray[Any]) -> NDArray[Any]:
        values = values.copy()
        row = values[2:3]
        row.flat[0] = not row.flat[0] if row.dtype == np.bool_ else row.flat[0] + 1
        return values

    def spoil(engine: CountingEngine, answer: Any) -> Any:  # noqa: ANN401 - of the method
        if engine.taken < 4:
            return answer
        if isinstance(answer, BatchStep):
            return replace(answer, **{part: spoiled(getattr(answer, part))})
        return {**answer, part: spoiled(answer[part])} if isinstance(answer, dict) else spoiled(answer)

    return changed(TALKATIVE, **{method: spoil})


@pytest.mark.parametrize(
    ("method", "part", "field"),
    [
        ("step", "observation", "observation[0: hp]"),
        ("step", "components", "components[step]"),
        ("step", "reward", "reward"),
        ("step", "terminated", "terminated"),
        ("step", "truncated", "truncated"),
        ("step", "facts", "facts[picked]"),
        ("step", "events", "events[ripened]"),
        ("mask", "", "mask[up]"),
        ("seeds", "", "seed"),
        ("state_arrays", "wasp", "state.wasp"),
        ("state_arrays", "fruit", "state.fruit[0]"),
    ],
)
def test_whatever_an_engine_reports_is_compared(method: str, part: str, field: str) -> None:
    world = replace(TALKING, engines={**TALKING.engines, "liar": lying(method, part)})
    (found,) = run(world, ("honest", "liar"), BASIC).divergences
    assert (found.game, found.step) == (2, 4)
    assert [difference.field for difference in found.differences] == [field]


def test_nothing_differs_where_engines_report_everything_alike_and_marks_are_compared_only_when_asked() -> None:
    assert run(TALKING, ("honest", "honest"), BASIC).divergences == []
    assert outcome("miscounting").divergences == []


def test_a_hanging_engine_is_one_sentence_after_the_timeout() -> None:
    began = time.monotonic()
    with pytest.raises(EngineError, match=r"'other' gave no answer to step within 0.4 seconds"):
        outcome("hanging", timeout=0.4)
    assert time.monotonic() - began < 4

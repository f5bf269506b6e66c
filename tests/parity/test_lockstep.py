"""Lockstep runs: equal engines stay together, and every kind of fault is found."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from toy_world import WORLD
from toy_world.planes import PlanesEngine

from parity import BatchStep, EngineError, EngineFactory, State, World
from parity.lockstep import Outcome, Settings, run
from parity.pair import Pair
from parity.shrink import shrink
from parity.trace import RESTART

BASIC = Settings(steps=150, games=32)


def outcome(other: str, settings: Settings = BASIC, reference: str = "plain") -> Outcome:
    return run(WORLD, (reference, other), settings)


@pytest.mark.parametrize(("source", "auto_reset"), [("uniform", False), ("directed", False), ("directed", True)])
@pytest.mark.parametrize("engines", [("plain", "planes"), ("planes", "plain"), ("planes", "planes")])
def test_equal_engines_never_differ(engines: tuple[str, str], source: str, auto_reset: bool) -> None:
    found = run(WORLD, engines, replace(BASIC, source=source, auto_reset=auto_reset, marks=True))
    assert found.divergences == []
    assert found.steps == 150 * 32
    assert found.episodes > 32
    assert found.marks is not None
    assert found.marks[0].tolist() == found.marks[1].tolist()


def test_invalid_actions_are_mixed_in_as_often_as_asked() -> None:
    invalid = list(WORLD.marks).index("invalid")
    counts = [outcome("planes", replace(BASIC, marks=True, invalid=share)).marks for share in (0.0, 0.2)]
    assert counts[0] is not None
    assert counts[1] is not None
    assert counts[0][0][invalid] == 0
    # A few games have no invalid action at times, so a little less than a fifth.
    assert 0.12 < counts[1][0][invalid] / (150 * 32) < 0.22


def test_a_run_is_a_function_of_its_seed() -> None:
    one, same, other = (outcome("restless", replace(BASIC, seed=seed)).divergences[0] for seed in (3, 3, 4))
    assert one == same
    assert one != other


def test_a_planted_fault_is_found_with_the_course_that_led_to_it() -> None:
    (found,) = outcome("restless").divergences
    assert {each.family for each in found.differences} == {"observation", "state"}
    assert found.case.actions[-1] == WORLD.actions.index("rest")
    assert len(found.case.actions) == found.step
    assert found.case.seed is not None


def test_games_that_differ_leave_the_run_and_the_others_go_on() -> None:
    found = outcome("restless", replace(BASIC, stop_after=4))
    assert len({divergence.game for divergence in found.divergences}) == 4


def test_only_steps_of_games_that_are_still_held_to_each_other_are_counted() -> None:
    taken: list[None] = []
    settings = replace(BASIC, stop_after=BASIC.games)
    found = run(WORLD, ("plain", "restless"), settings, lambda: taken.append(None))
    assert len(found.divergences) > 1
    assert found.steps < BASIC.games * len(taken)


def test_a_wrong_next_game_is_found_at_the_restart() -> None:
    (found,) = outcome("forgetful").divergences
    assert found.case.actions[-1] == RESTART
    assert "seed" in {each.family for each in found.differences}


class _SlipsInAutoReset(PlanesEngine):
    """Only its own auto-reset is wrong: hp 3 instead of 2."""

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        step = super().step_restarting(actions)
        self.hp[step.ended] = 3
        return BatchStep(self.observe(), step.components, step.reward, step.terminated)


def test_the_engines_own_auto_reset_is_a_path_of_its_own() -> None:
    world = with_engine(_SlipsInAutoReset)
    assert run(world, ("plain", "tried"), BASIC).divergences == []
    (found,) = run(world, ("plain", "tried"), replace(BASIC, auto_reset=True)).divergences
    assert found.case.auto_reset
    assert {difference.field for difference in found.differences} == {"observation[0: hp]", "state.hp"}
    with Pair(world, ("plain", "tried"), 1) as pair:
        small = shrink(pair, found.case, 60)
    assert small is not None
    assert len(small.actions) == 1


def test_a_mark_that_only_a_batch_counts_wrongly_is_found_too() -> None:
    class Batched(PlanesEngine):
        def step(self, actions: NDArray[np.int32]) -> BatchStep:
            self.count("rest", int(self.games > 1))
            return super().step(actions)

    (found,) = run(with_engine(Batched), ("plain", "tried"), replace(BASIC, marks=True)).divergences
    assert [difference.field for difference in found.differences] == ["marks[rest]"]


def test_marks_are_compared_only_when_asked() -> None:
    assert outcome("miscounting").divergences == []
    (found,) = outcome("miscounting", replace(BASIC, marks=True)).divergences
    assert [difference.field for difference in found.differences] == ["marks[sting]"]


def test_state_arrays_that_leave_a_field_out_do_not_hide_it() -> None:
    (found,) = outcome("hiding-late", reference="hiding").divergences
    assert [difference.field for difference in found.differences] == ["state.turn"]


def test_observations_of_another_type_differ() -> None:
    (found,) = outcome("double").divergences
    assert [difference.field for difference in found.differences] == ["observation"]


class _Counting(PlanesEngine):
    """Knows how many steps it has taken."""

    taken = 0

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        self.taken += 1
        return super().step(actions)


class _LastStep(_Counting):
    """Spoils the state only after everything about step 5 was reported."""

    def seeds(self) -> NDArray[np.uint64]:
        if self.taken == 5:
            self.score[0] = 40
            self.taken += 1
        return super().seeds()


def test_what_the_last_step_left_is_compared_too() -> None:
    world = with_engine(_LastStep)
    assert run(world, ("plain", "tried"), replace(BASIC, steps=5, invalid=0)).divergences


class _LastLook(_Counting):
    """The same for the mask alone, which no state shows."""

    def mask(self) -> NDArray[np.bool_]:
        mask = super().mask()
        if self.taken == 5:
            self.looks += 1
        mask[0, 5] ^= self.looks > 2  # after the step itself has asked, and reported
        return mask

    looks = 0


def test_masks_and_seeds_are_looked_at_once_more_after_the_last_step() -> None:
    # One game, which goes on after its fifth step: nobody asks for its mask again but the last comparison.
    settings = Settings(steps=5, games=1, seed=1, invalid=0)
    (found,) = run(with_engine(_LastLook), ("plain", "tried"), settings).divergences
    assert [difference.field for difference in found.differences] == ["mask[rest]"]


class _Blink(_Counting):
    """Without state arrays; after its fourth step alone its state is wrong, and nothing else."""

    def state_arrays(self) -> None:
        return None

    def get_state(self, slots: NDArray[np.intp]) -> list[State]:
        return [state | {"turn": state["turn"] + (self.taken == 4)} for state in super().get_state(slots)]


def test_states_are_compared_at_every_step_where_no_engine_offers_arrays() -> None:
    for reference in ("plain", "planes"):
        (found,) = run(with_engine(_Blink), (reference, "tried"), BASIC).divergences
        assert [difference.field for difference in found.differences] == ["state.turn"]
        assert found.step == 4


class _BlinkBehindArrays(_Counting):
    """Gives the right arrays, and for some steps the wrong dicts."""

    def get_state(self, slots: NDArray[np.intp]) -> list[State]:
        is_wrong = 10 <= self.taken < 40
        return [state | {"turn": state["turn"] + is_wrong} for state in super().get_state(slots)]


def test_dicts_are_compared_now_and_then_where_engines_offer_arrays() -> None:
    (found,) = run(with_engine(_BlinkBehindArrays), ("planes", "tried"), BASIC).divergences
    assert [difference.field for difference in found.differences] == ["state.turn"]


def with_engine(engine: EngineFactory) -> World:
    return replace(WORLD, engines={**WORLD.engines, "tried": engine})


class _Endless(PlanesEngine):
    def mask(self) -> NDArray[np.bool_]:
        return super().mask()[:, :5]


class _Forgets(PlanesEngine):
    def state(self, slot: int) -> dict[str, Any]:
        return {name: value for name, value in super().state(slot).items() if name != "hp"}


class _Counts(PlanesEngine):
    def mask(self) -> NDArray[np.bool_]:
        return super().mask().astype(np.int8)


class _Silent(PlanesEngine):
    def mask(self) -> NDArray[np.bool_]:
        return None  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [
        (_Endless, r"gives masks as bool \(32, 5\): world 'orchard' wants a numpy array, bool \(32, 6\)"),
        (_Forgets, "gives states without 'hp'"),
        (_Silent, "gives masks as NoneType"),
        (_Counts, r"gives masks as int8 \(32, 6\)"),
    ],
)
def test_an_answer_in_the_wrong_form_is_one_sentence(engine: type[PlanesEngine], sentence: str) -> None:
    with pytest.raises(EngineError, match=sentence):
        run(with_engine(engine), ("plain", "tried"), BASIC)


class _Talkative(_Counting):
    """Reports everything that an engine may; from its fourth step on, ``spoiled`` is wrong in slot 2."""

    spoiled = ""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        step = super().step(actions)
        told = {
            "observation": step.observation,
            "components": step.components,
            "reward": step.reward,
            "terminated": step.terminated,
            "truncated": np.zeros(self.games, dtype=np.bool_),
            "facts": step.components[:, 1:2].copy(),
            "events": np.zeros(self.games, dtype=np.uint32),
        }
        self._spoil(told)
        return BatchStep(**told)

    def mask(self) -> NDArray[np.bool_]:
        mask = super().mask()
        self._spoil({"mask": mask})
        return mask

    def seeds(self) -> NDArray[np.uint64]:
        seeds = super().seeds()
        self._spoil({"seed": seeds})
        return seeds

    def state_arrays(self) -> dict[str, NDArray[Any]]:
        arrays = {name: values.copy() for name, values in (super().state_arrays() or {}).items()}
        self._spoil(arrays)
        return arrays

    def _spoil(self, arrays: dict[str, NDArray[Any]]) -> None:
        if self.spoiled in arrays and self.taken >= 4:
            row = arrays[self.spoiled][2:3]
            row.flat[0] = not row.flat[0] if row.dtype == np.bool_ else row.flat[0] + 1


@pytest.mark.parametrize(
    ("spoiled", "field"),
    [
        ("observation", "observation[0: hp]"),
        ("components", "components[step]"),
        ("reward", "reward"),
        ("terminated", "terminated"),
        ("truncated", "truncated"),
        ("facts", "facts[picked]"),
        ("events", "events[ripened]"),
        ("mask", "mask[up]"),
        ("seed", "seed"),
        ("wasp", "state.wasp"),
        ("fruit", "state.fruit[0]"),
    ],
)
def test_whatever_an_engine_reports_is_compared(spoiled: str, field: str) -> None:
    liar: type[_Talkative] = type("Liar", (_Talkative,), {"spoiled": spoiled})
    world = replace(WORLD, engines={"honest": _Talkative, "liar": liar}, facts=("picked",), events=("ripened",))
    assert run(world, ("honest", "honest"), BASIC).divergences == []
    (found,) = run(world, ("honest", "liar"), BASIC).divergences
    assert found.game == 2
    fields = [difference.field for difference in found.differences]
    assert fields == ([field, "state.seed"] if field == "seed" else [field])
    assert found.step == 4


def test_a_hanging_engine_is_one_sentence_after_the_timeout() -> None:
    began = time.monotonic()
    with pytest.raises(EngineError, match=r"'hanging' gave no answer to step within 1 seconds"):
        outcome("hanging", replace(BASIC, timeout=1))
    assert time.monotonic() - began < 8


def test_a_refused_directed_start_is_one_sentence() -> None:
    world = replace(WORLD, starts={"nowhere": lambda rng: {**good_state(), "walker": 99}})
    with pytest.raises(EngineError, match="a directed start of world 'orchard' is refused"):
        run(world, ("plain", "planes"), replace(BASIC, source="directed"))


def good_state() -> dict[str, Any]:
    return {"seed": 1, "walker": 0, "wasp": 15, "hp": 2, "score": 0, "turn": 0, "apples": [{"cell": 3, "ripeness": 1}]}

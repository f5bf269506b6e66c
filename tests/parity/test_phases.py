"""Phases of a step: which one differs first, in a session and in reports, and the words that they draw."""

from dataclasses import replace

import pytest
from command_line import rlparity
from faulty_orchard import WORLD, changed, playing
from orchard.plain import PICK, REST, Game, PlainEngine, draw

from rlparity import Draw, EngineError, Phase
from rlparity.core.trace import Case
from rlparity.debug import Session


class Stingless(Game):
    """The wasp hurts nobody, and pays as if it did."""

    def fly(self) -> int:
        hurt = super().fly()
        self.hp += hurt
        return hurt


STINGLESS = replace(WORLD, engines={**WORLD.engines, "stingless": playing(Stingless)})


@pytest.mark.parametrize(
    ("engine", "phase", "condition"), [("restless", "walker", "differs"), ("stingless", "flight", "sting")]
)
def test_the_first_phase_that_differs_is_that_of_the_planted_fault(engine: str, phase: str, condition: str) -> None:
    for reference in ("plain", "planes"):
        with Session(STINGLESS, (reference, engine), seed=3) as session:
            session.run_until(condition)
            assert session.diff()
            assert session.moment.phases.parting.text == f"The engines first differ in phase '{phase}'."


def test_the_state_after_the_last_phase_is_that_after_the_step_and_asking_changes_no_game() -> None:
    with Session(WORLD, ("plain", "planes"), seed=3) as session:
        for _ in range(20):
            session.step()
            for engine, side in zip(session.engines, session.moment.phases.sides, strict=True):
                assert side is not None
                assert [each.name for each in side] == ["walker", "flight"]
                assert side[-1].state == session.state(engine)
            assert session.moment.phases.parting.text == "The states agree after every phase."
        session.check()


def test_an_invalid_action_and_a_start_have_no_phase() -> None:
    with Session(WORLD, ("plain", "planes"), case=Case((PICK, "restart", REST), seed=4)) as session:
        for phases in (None, (), None):
            assert session.moment.phases.sides == (phases, phases)
            session.step()


def test_an_action_that_is_valid_on_one_side_alone_differs_in_its_first_phase() -> None:
    class Lazy(Game):
        def mask(self) -> list[bool]:
            return [*super().mask()[:REST], False]

    world = replace(WORLD, engines={"plain": PlainEngine, "lazy": playing(Lazy)})
    with Session(world, case=Case((REST,), seed=4)) as session:
        session.step()
        assert session.moment.phases.parting.text == "The engines first differ in phase 'walker'."


def test_words_have_an_address_at_which_a_run_stops() -> None:
    with Session(WORLD, ("plain", "planes"), seed=3) as session:
        assert session.run_until("draw 7 0") == "draw 7 0"
        assert session.position == 7
        plain, planes = session.moment.phases.sides
        assert plain is not None
        assert planes is not None
        assert [phase.draws for phase in plain] == [(), (Draw((7, 0), draw(3, 7, 0)),)]
        assert [phase.draws for phase in planes] == [None, None]
        assert session.run_until("draw 4", backwards=True) == "draw 4"
        assert session.position == 4
        assert session.run_until("draw 1 7", steps=20) is None


def test_the_command_names_the_phase_of_the_step_at_which_it_stops() -> None:
    words = "debug", "--engines", "plain,restless", "--seed", "3", "--until", "differs"
    assert rlparity(*words).out.splitlines()[-1] == "The engines first differ in phase 'walker'."
    assert rlparity(*words, "--json").json["phase"] == "The engines first differ in phase 'walker'."


def test_phases_that_are_no_json_are_refused() -> None:
    wrong = changed(PlainEngine, phases=lambda *_: (Phase("walker", {"hp": (1,)}),))
    with Session(replace(WORLD, engines={"plain": PlainEngine, "wrong": wrong}), seed=3) as session:
        session.step()
        with pytest.raises(EngineError, match=r"'wrong' gives the state after phase 'walker'\.hp as tuple"):
            _ = session.moment.phases.sides

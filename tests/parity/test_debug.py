"""The debugger's session: it stops at conditions, goes back exactly, edits, forks and saves."""

import json
import runpy
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orchard
import pytest
from faulty_orchard import WORLD, CountingEngine, changed
from numpy.typing import NDArray
from orchard.plain import REST, PlainEngine
from orchard.planes import PlanesEngine

from rlparity import EngineError, UsageError, World
from rlparity.core.trace import Case, Trace, read_trace, write_trace
from rlparity.debug import Session

SPEC = "faulty_orchard:WORLD"
GOLDEN = Path(orchard.__file__).parent / "golden" / "uniform-1.json"


def with_engine(engine: Any) -> World:  # noqa: ANN401 - an engine's class
    return replace(WORLD, engines={"plain": PlainEngine, "other": engine})


def test_a_run_stops_where_the_engines_differ_and_diff_names_the_fields() -> None:
    with Session(SPEC, ("plain", "restless"), seed=3) as game:
        assert game.run_until("differs") == "differs"
        assert [each.field for each in game.diff()] == ["observation[0: hp]", "state.hp"]
        assert game.field("hp") == game.field("hp", "restless") + 1
        assert game.moment.action == REST
        at = game.position
        game.back(at)
        assert game.run_until("differs state.score", "differs observation[hp]") == "differs observation[hp]"
        assert game.position == at
        assert game.run_until("differs", backwards=True) is None
        assert game.position == 0


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("sting", lambda game: "sting" in game.marks()),
        ("O-STING", lambda game: "sting" in game.marks()),
        ("hp < 2", lambda game: game.state()["hp"] == 1),
        ("state.apples[0].cell != 2", lambda game: game.state()["apples"][0]["cell"] != 2),
        ("components.fruit > 0", lambda game: game.components()["fruit"] > 0),
        ("mask[pick] == true", lambda game: game.mask()["pick"]),
        ("observation[place 9] >= 0.5", lambda game: 9 in (game.state()["walker"], game.state()["wasp"])),
        ("reward < -0.1", lambda game: game.field("reward") == pytest.approx(-0.51)),
        ("action pick", lambda game: game.moment.action == 4),
        ("action == 4", lambda game: game.moment.action == 4),
    ],
)
def test_a_run_stops_at_the_first_step_at_which_a_condition_holds(
    condition: str, holds: Callable[[Session], bool]
) -> None:
    with Session(SPEC, seed=3) as game:
        assert game.run_until(condition) == condition
        assert holds(game)
        first = game.position
        while game.position > 1:
            game.back()
            assert not holds(game)
        game.go(first)
        game.run_until(steps=20)
        game.run_until(condition, backwards=True)
        assert holds(game)


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("stin", r"no condition is 'stin' \(did you mean 'sting'\?\)"),
        ("scor < 2", r"is no field of the state, there is no 'scor' \(did you mean 'score'\?\)"),
        ("components.fruits > 0", r"is no field: there is no 'fruits' \(did you mean 'fruit'\?\)"),
        ("hp < low", "compares no numbers"),
        ("apples < 2", "compares no numbers"),
        ("action jump", "has no action 'jump'"),
        ("action 6", "has no action '6'"),
        ("differs hq", "no 'hq'"),
        ("__import__('os').system('false') == 0", "is no field"),
        ("", "no condition is ''"),
        ("differs []", r"'\[\]' is no field"),
        (". == 0", r"'\.' is no field"),
        (f"action {'1' * 5000}", "has no action"),
        (f"apples[{'1' * 5000}] == 0", r"'apples\[1+\.\.\.' is no field"),
        (f"hp < {'[' * 100_000}", "compares no numbers"),
    ],
)
def test_other_conditions_are_refused_in_one_sentence(condition: str, sentence: str) -> None:
    with Session(SPEC) as game:
        with pytest.raises(UsageError, match=sentence):
            game.run_until(condition)
        assert game.position == 0


def test_going_back_and_forth_takes_no_step_of_an_engine() -> None:
    engines = [CountingEngine(1)]
    world = replace(WORLD, engines={"plain": PlainEngine, "other": lambda *_: engines[0]})
    with Session(world, seed=3) as game:
        game.run_until(steps=20)
        seen = [game.state()]
        for _ in range(20):
            game.back()
            seen.append(game.state())
        game.go(20)
        assert game.state() == seen[0]
        assert len({json.dumps(state) for state in seen}) == 21
        assert engines[0].taken == 20
        with pytest.raises(UsageError, match="the steps 0 to 20, and no 21"):
            game.go(21)
        game.back(17)
        with pytest.raises(UsageError, match="the game began 3 steps ago"):
            game.back(4)
        assert game.position == 3


def test_play_from_an_earlier_step_goes_on_exactly_as_a_new_game_does() -> None:
    with Session(SPEC, seed=3) as game:
        game.run_until(steps=30)
        game.back(12)
        game.step("rest")
        game.run_until(steps=5)
        case, state = game.case, game.state()
        game.check()
    assert len(case.actions) == 24
    with Session(SPEC, case=case) as again:
        again.go(24)
        assert again.state() == state


def test_an_engine_that_fails_is_opened_again_and_the_session_is_as_it_was() -> None:
    fails = iter((False,) * 9 + (True,) + (False,) * 99)  # with the action after five steps and a replay of four
    dying = changed(step=lambda _, step: 1 / 0 if next(fails) else step)
    with Session(with_engine(dying), ("plain", "other"), case=Case((REST,) * 20, seed=3)) as game:
        game.go(5)
        game.back()
        with pytest.raises(EngineError, match="'other' failed in step: ZeroDivisionError"):
            game.step("up")
        assert (game.position, game.tree()) == (4, "* 0: seed 3, to step 5")
        game.step("up")
        assert (len(game.forks), game.diff()) == (2, ())
        game.check()


def test_an_observation_of_one_number_is_shown_where_it_is_0() -> None:
    with Session("gym:FrozenLake-v1", seed=3) as game:
        assert game.observation() == {"observation": 0}


def test_an_engine_that_plays_otherwise_in_a_replay_is_an_error() -> None:
    rng = np.random.default_rng(0)
    drawing = changed(step=lambda _, step: replace(step, reward=step.reward + np.float32(rng.random())))
    with Session(with_engine(drawing), ("plain", "other"), case=Case((REST,) * 20, seed=3)) as game:
        game.go(20)
        with pytest.raises(EngineError, match="'other' is not deterministic: step 1 differs in a replay"):
            game.check()


def test_an_edit_begins_a_fork_which_keeps_the_actions_that_follow() -> None:
    with Session(SPEC, trace=GOLDEN) as game:
        actions = game.case.actions, game.next_action
        game.go(3)
        before = game.state()
        game.set("hp", 1)
        game.set("apples[0].ripeness", 3)
        assert (game.position, game.state()["hp"], game.state("planes")["hp"]) == (3, 1, 1)
        assert game.run_until(steps=2) is None
        assert [game.current.case.actions[done] for done in (0, 1)] == list(read_trace(GOLDEN).case.actions[3:5])
        game.back(2)
        game.back()
        assert game.state()["apples"][0]["ripeness"] == before["apples"][0]["ripeness"]
        game.back()
        assert game.state() == before
        assert (game.current.number, game.position, actions[0]) == (0, 3, ())


def _lift(engine: PlanesEngine, seen: NDArray[Any]) -> NDArray[Any]:
    engine.hp = np.maximum(engine.hp, 2)
    return seen


@pytest.mark.parametrize(
    ("other", "field", "value", "sentence"),
    [
        (PlanesEngine, "hp", 9, "state.hp cannot be 9: hp 9 lies outside"),
        (changed(set_state=lambda *_: 1 / 0), "hp", 1, "failed in set_state: ZeroDivisionError"),
        (changed(set_state=_lift), "hp", 1, "engine 'other' changes state.hp to 2: give a value that it keeps"),
        (PlanesEngine, "hp", "one", "hp takes a value of type int, not str"),
        (PlanesEngine, "hp", True, "hp takes a value of type int, not bool"),
        (PlanesEngine, "apples[99].cell", 1, "past the end of a list"),
        (PlanesEngine, "apples.cell", 1, "no 'cell'"),
        (PlanesEngine, "reward", 1, "is no field of the state"),
    ],
)
def test_a_bad_edit_is_refused_and_leaves_the_session_as_it_was(
    other: Any,  # noqa: ANN401 - an engine's class
    field: str,
    value: object,
    sentence: str,
) -> None:
    with Session(with_engine(other), seed=3) as game:
        game.step("rest")
        before = game.state()
        with pytest.raises((UsageError, EngineError), match=sentence):
            game.set(field, value)
        assert (game.state(), len(game.forks), game.tree()) == (before, 1, "* 0: seed 3, to step 1")


def test_other_actions_fork_and_forks_are_a_tree() -> None:
    with Session(SPEC, seed=3) as game:
        for action in ("rest", "rest", "up"):
            game.step(action)
        game.back()
        game.step("up")
        assert len(game.forks) == 1
        game.back()
        game.step("left")
        game.set("hp", 1)
        game.step("rest")
        game.back(2)
        game.fork()
        assert game.tree().splitlines() == [
            "  0: seed 3, to step 3",
            "    1: action left (2) at step 2, to step 3",
            "      2: state.hp = 1 at step 3, to step 4",
            "*     3: fork at step 3, to step 3",
        ]
        assert [fork.parent and fork.parent.number for fork in game.forks] == [None, 0, 1, 1]
        game.switch(2)
        assert (game.position, game.state()["hp"]) == (3, 1)
        with pytest.raises(UsageError, match="there is no fork 4: the forks are 0 to 3"):
            game.switch(4)


def test_a_golden_episode_ends_with_its_actions_and_an_agent_goes_on(tmp_path: Path) -> None:
    recorded = read_trace(GOLDEN)
    with Session(SPEC, trace=GOLDEN) as game:
        assert game.run_until() is None
        assert game.case == recorded.case
        assert tuple(game.components().values()) == (recorded.components or ())[-1]
    policy = tmp_path / "policy.json"
    policy.write_text("[0, 0, 0, 0, 0, 1]")
    with Session(SPEC, case=recorded.case.prefix(1), agent=policy) as game:
        game.run_until(steps=4)
        assert game.case.actions == (recorded.case.actions[0], REST, REST, REST)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"seed": 1, "trace": GOLDEN}, "a seed, a trace or a case: give one"),
        ({"trace": "none.json"}, "there is no trace file none.json"),
        ({"trace": GOLDEN, "actions": ["up"]}, "give others only with a seed"),
        ({"seed": 1, "actions": ["up", "jump"]}, "has no action 'jump'"),
        ({"seed": -1}, "seed -1 is no whole number of 0 ... 2\\^64 - 1"),
        ({"seed": "7"}, "seed 7 is no whole number"),
        ({"seed": 1.5}, "seed 1.5 is no whole number"),
        ({"case": Case((9,), seed=1)}, "action 9"),
        ({"case": Case((), state={**dict.fromkeys(WORLD.state_fields, 99), "apples": []})}, "the start is refused"),
        ({"engines": ("plain", "plane")}, "no engine 'plane'"),
        ({"engines": ("plain", "planes", "nan")}, "3 engines are given"),
        ({"agent": "nobody"}, "there is no policy file nobody"),
        ({"prices": {"kills": 1}}, "no price 'kills'"),
    ],
)
def test_a_session_that_cannot_begin_is_one_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        Session(SPEC, **given)


def test_a_trace_may_not_start_a_program(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    write_trace(Trace("orchard", ("plain", "planes@python:/bin/false"), Case((), seed=1)), path)
    with pytest.raises(UsageError, match="is an engine in another process"):
        Session(SPEC, trace=path)


def test_what_is_saved_is_replayed_with_the_same_difference(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with Session(SPEC, ("plain", "restless"), seed=3, prices={"fruit": 0.2}) as game:
        game.run_until("differs")
        saved, small = game.save(path), game.save(tmp_path / "small.json", shrink_seconds=60)
        assert (saved.case, saved.differences, saved.prices) == (game.case, game.diff(), {"fruit": 0.2})
        assert "O-REST" in saved.rules
        assert (small.case.actions, small.found) == ((REST,), game.case)
        game.step("rest")
        game.check()
        at = game.position
    with Session(SPEC, trace=path) as again:
        assert again.engines == ("plain", "restless")
        again.run_until("differs")
        assert (again.position, again.case) == (at - 1, saved.case)
    with Session(SPEC) as game, pytest.raises(UsageError, match="the engines agree up to this step"):
        game.save(path, shrink_seconds=1)


def test_a_written_test_fails_while_the_engines_differ_and_holds_the_reward(tmp_path: Path) -> None:
    def written(engines: Sequence[str], condition: str) -> Callable[[], None]:
        path = tmp_path / "test_saved.py"
        with Session(SPEC, engines, seed=3, prices={"fruit": 0.2}) as game:
            game.run_until(condition)
            game.set("turn", 7)
            game.step("rest")
            game.write_test(path)
        test: Callable[[], None] = runpy.run_path(str(path))["test_engines_agree"]
        return test

    written(("plain", "planes"), "action pick")()
    with pytest.raises(AssertionError, match="plain and restless differ after 1 action"):
        written(("plain", "restless"), "score >= 4")()
    path = tmp_path / "test_saved.py"
    written(("plain", "planes"), "action pick")
    path.write_text(path.read_text().replace("'step': -10", "'step': -11"))
    with pytest.raises(AssertionError, match=r"plain earns {'step': -10, .*} in the last step, not {'step': -11"):
        runpy.run_path(str(path))["test_engines_agree"]()
    with Session(WORLD) as game, pytest.raises(UsageError, match="open the session with its module:attribute"):
        game.write_test(path)


def test_a_restart_is_a_step() -> None:
    with Session(SPEC, seed=3) as game:
        game.run_until()
        assert game.moment.is_over
        with pytest.raises(UsageError, match='the game is over: give the action "restart"'):
            game.step()
        assert game.state()["turn"] > 0
        game.step("restart")
        assert game.marks()["next"] == 1
        assert game.state()["turn"] == 0

"""Phases of a step and the debugger: the first phase in which engines differ is that of a planted fault."""

import struct
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix import rules
from hackmatrix.env import ENV
from hackmatrix.exploration.policies import POLICIES
from hackmatrix.exploration.starts import STARTS
from hackmatrix.jax_env import enemy_turn
from hackmatrix.swift_env import SwiftEngine
from hackmatrix.swift_env.protocol import CommandRefused, FrameCommand, content
from hackmatrix.world import WORLD
from rlparity import BatchEngine, Draw, EngineError, EngineOptions, State, UsageError, View
from rlparity.core.pair import Pair
from rlparity.core.sources import choose_actions
from rlparity.core.step_phases import StepPhases
from rlparity.core.trace import Case
from rlparity.debug import Session
from rlworldkit.jax.engine import JaxEngine
from tests.hackmatrix.rules.randomness import word

ONLY = np.zeros(1, np.intp)
SITES = "START BONUS EXIT BLOCK_COUNT BLOCK_CELL QUESTION DATA POINTS PROGRAM AMOUNT RESOURCE STAGE_CELL STAGE_TYPE "
SITES += "SCHEDULE_CELL SCHEDULE_TYPE SIPHON_CELL SIPHON_TYPE WARP POLY ORDER STEP"

pytestmark = pytest.mark.usefixtures("swift_built")


def starts(each: int) -> list[State]:
    return [make(np.random.default_rng(number)) for make in STARTS.values() for number in range(each)]


def test_the_last_phase_of_the_swift_engine_is_its_step_and_words_are_those_of_their_addresses() -> None:
    engine = WORLD.engines["swift"](1)
    seen = set()
    for state in starts(1):
        engine.set_state([state], ONLY)
        (before,) = engine.get_state(ONLY)
        for action in np.flatnonzero(engine.mask()[0])[:4]:
            engine.set_state([before], ONLY)
            phases = engine.phases(before, np.array([action]))
            assert phases is not None
            assert engine.get_state(ONLY) == [before]
            engine.step(np.array([action], np.int32))
            assert phases[-1].state == engine.get_state(ONLY)[0]
            for draw in (draw for phase in phases for draw in phase.draws or ()):
                event, site, index = draw.address
                assert event == (before["eventNumber"] + 1) % 2**32
                number = SITES.split().index(str(site)) + 1
                assert draw.word == word(before["seed"], int(event), number, int(index))
                seen.add(site)
    assert {"ORDER", "STEP", "SIPHON_CELL", "SIPHON_TYPE"} <= seen


def test_an_invalid_action_has_no_phase_and_a_wrong_request_is_refused() -> None:
    engine = WORLD.engines["swift"](1)
    (state,) = engine.get_state(ONLY)
    assert engine.phases(state, np.array([27])) == ()
    with pytest.raises(EngineError, match=r"tells no phases \(the action of game 0 must be an integer from 0 to 27"):
        engine.phases(state, np.array([28]))
    with SwiftEngine(1) as alone, pytest.raises(CommandRefused, match="the frame ends before"):
        alone._ask(FrameCommand.GET_PHASES, content, struct.pack("<iI", 0, 9), b"{}")


@pytest.mark.long
def test_both_engines_are_the_same_after_every_phase() -> None:
    names = set()
    with Pair(WORLD, ("swift", "jax"), 1) as pair:
        for state in starts(8):
            pair.set_state([state], ONLY)
            (before,) = pair.reference.get_state(ONLY)
            for action in np.flatnonzero(pair.reference.mask()[0])[:6].tolist():
                phases = StepPhases(lambda: pair, (before, before), action)
                assert phases.parting.text == "The states agree after every phase."
                names |= {phase.name for phase in phases.sides[0] or ()}
    assert len(names) == 8


def drawn(engine: BatchEngine, state: State, actions: NDArray[np.int32]) -> list[tuple[str, list[Draw]]]:
    """The words of each phase of a step, sorted by their addresses."""
    phases = engine.phases(state, actions)
    assert phases is not None
    return [(phase.name, sorted(phase.draws or (), key=lambda draw: draw.address)) for phase in phases]


@pytest.mark.long
def test_both_engines_draw_the_same_words_in_every_phase() -> None:
    swift, jax = (WORLD.engines[name](1) for name in ("swift", "jax"))
    rng, seen, observation = np.random.default_rng(0), set(), swift.reset(np.array([7], np.uint64), ONLY)
    for game, policy in enumerate([*POLICIES.values()] * 6):
        for _ in range(20):
            (state,) = swift.get_state(ONLY)
            weights = policy(View(observation, swift.mask(), ONLY, swift.get_state))
            actions = choose_actions(rng, weights, swift.mask(), 0.0, None)
            words = drawn(swift, state, actions)
            assert drawn(jax, state, actions) == words
            seen |= {draw.address[1] for _, draws in words for draw in draws}
            step = swift.step(actions)
            observation = step.observation
            if step.ended.any():
                break
        starts = [*STARTS.values()]
        observation = swift.set_state([starts[game % len(starts)](np.random.default_rng(game))], ONLY)
    assert seen == set(SITES.split()[2:])  # a step begins no game


@pytest.mark.long
def test_the_phase_of_a_planted_fault_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    env = copy(ENV)
    env.packages = ()  # these programs are others than those that are cached
    monkeypatch.setattr(enemy_turn, "recover", lambda now, runs: now)

    def faulty(games: int, options: EngineOptions = EngineOptions()) -> BatchEngine:
        return JaxEngine(games, env)

    world = replace(WORLD, engines={"swift": WORLD.engines["swift"], "faulty": faulty})
    state = next(state for state in starts(8) if any(enemy["stunned"] for enemy in state["enemies"]))
    with Session(world, case=Case((rules.SIPHON, *range(4)), state=state)) as session:
        assert session.run_until("differs") == "differs"
        assert session.moment.phases.parting.text == "The engines first differ in phase 'recovery (E12)'."


def test_a_game_stops_at_a_mark_goes_back_and_forks_by_an_edit() -> None:
    with Session("hackmatrix", "swift", seed=7) as game:
        assert game.run_until("E6.several", "components.kills > 0", "hp < 3") is not None
        at = game.position
        game.back()
        with pytest.raises(UsageError, match=r"state\.player\.hp cannot be 99"):
            game.set("hp", 99)
        game.set("hp", 2)
        assert game.observation()["player hp"] == game.field("observation[player hp]") == pytest.approx(2 / 3)
        game.run_until(steps=1)
        assert game.position == at
        assert len(game.board().rows) == 6
        assert [fork.parent for fork in game.forks] == [None, game.forks[0]]
        assert game.diff() == ()
        game.check()

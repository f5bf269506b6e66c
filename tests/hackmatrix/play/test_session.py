"""A session without a screen: what keys do to a game, to the agent at hand, and to the file."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hackmatrix.explain.show import explained_steps
from hackmatrix.rules import ACTIONS, COMPONENTS, MOVES, NUM_ACTIONS, SIPHON
from rlparity.core.trace import read_trace
from rlparity.errors import UsageError
from rlworldkit.show.play.game import PlayedGame, PlayEngine
from rlworldkit.show.play.session import NO_AGENT, PlaySession
from tests.hackmatrix.rules.blocks import data
from tests.hackmatrix.rules.builders import rich
from tests.hackmatrix.rules.movers import coming, daemon, glitch, virus
from tests.hackmatrix.rules.tables import ACTION

from .conftest import NEARER

UP, DOWN, LEFT, RIGHT = range(len(MOVES))


def test_an_invalid_action_is_refused_with_its_reason_and_never_reaches_the_engine(session: PlaySession) -> None:
    board, siphon = "M1: 0–3 move up, down, left, right: the neighbour cell", "M2: 4 siphon: "
    refusals = (DOWN, "the board ends there (M1)", board), (SIPHON, "no data siphon is held (M2)", siphon)
    for action, reason, rule in refusals:
        before = session.game
        session.press(action)
        assert session.game is before
        assert session.message.is_refusal
        said, text = session.message.lines
        assert said == f"{ACTIONS[action]} is refused: {reason}. The game is as it was."
        assert text.startswith(rule)
        assert len(text) <= 80
    session.toggle_agent()
    assert (session.agent_plays, session.message.lines) == (False, (NO_AGENT,))
    session.press(UP)
    assert [turn.action for turn in session.game.turns] == [UP]
    assert session.game.ending is None


def test_a_look_shows_what_would_come_and_enter_plays_it(session: PlaySession) -> None:
    session.toggle_looking()
    assert "a look knows what chance will bring" in " ".join(session.message.lines)
    session.press(UP)
    assert session.game.turns == ()
    assert session.displayed.state["player"]["row"] == 1
    assert session.message.lines[0].startswith(f"up would earn {NEARER}")
    seen = session.displayed
    session.press(DOWN)
    assert session.message.lines[0] == "down cannot be played: the board ends there (M1)."
    assert session.displayed is session.game
    session.press(UP)
    session.confirm()
    assert session.game.state == seen.state
    assert session.game.earned == seen.earned
    assert not session.is_looking


def test_the_agent_plays_on_until_its_key_or_any_action_takes_over(advised: PlaySession) -> None:
    advised.toggle_agent()
    advised.let_agent_act()
    advised.let_agent_act()
    advised.toggle_agent()
    advised.let_agent_act()
    advised.toggle_agent()
    advised.press(DOWN)
    advised.let_agent_act()
    assert [(turn.action, turn.by_agent) for turn in advised.game.turns] == [(UP, True), (UP, True), (DOWN, False)]
    advised.toggle_agent()
    advised.press(SIPHON)
    assert (advised.agent_plays, advised.message.is_refusal) == (False, True), "a mistyped one takes over as well"


def test_a_saved_game_replays_to_the_same_components(advised: PlaySession) -> None:
    for _ in range(6):
        advised.act(UP if advised.game.mask[UP] else RIGHT)
        advised.toggle_agent()
        advised.let_agent_act()
    advised.save()
    trace = read_trace(advised.path)
    assert (trace.world, trace.case.seed, trace.component_names) == ("hackmatrix", 7, COMPONENTS)
    _, *steps = explained_steps(["swift"], trace.case)
    assert [step.values[0] for step in steps] == list(trace.components or ())
    assert steps[-1].state == advised.game.state
    assert all(step.sound for step in steps)
    assert len(steps) == len(advised.game.turns) == 12


def test_what_was_done_since_is_saved_and_nothing_is_not(session: PlaySession) -> None:
    session.save()
    session.keep()
    assert session.message.is_refusal
    assert not session.path.exists()
    for count in (1, 2):
        session.act(UP)
        session.save()
        assert len(json.loads(session.path.read_text())["actions"]) == count
    session.next_game()
    assert (session.game.seed, len(session.game.turns)) == (7, 2), "a game that goes on is not left for the next"
    assert session.message.is_refusal


def test_at_the_end_the_game_is_saved_and_the_next_seed_is_one_key_away(engine: PlayEngine, tmp_path: Path) -> None:
    session = PlaySession(engine, 2**64 - 1, tmp_path / "game.json")
    while not session.game.ending:  # nobody survives walking to and fro
        session.act(next(action for action in (UP, DOWN, LEFT, RIGHT) if session.game.mask[action]))
    first = session.path
    assert session.game.ending == "died"
    assert session.message.lines[0].startswith(f"game {2**64 - 1}: died in stage 1 after ")
    assert "N plays game 0" in session.message.lines[1]
    assert len(read_trace(first).case.actions) == len(session.game.turns)
    session.press(UP)
    assert session.message.lines[0] == "up is refused: the game is over (C4). The game is as it was."
    session.next_game()
    assert (session.game.seed, session.game.turns) == (0, ())
    assert session.path == first.with_name("game-2.json")
    session.act(int(session.game.mask.argmax()))
    session.keep()
    assert session.saved.keys() == {first, session.path}


def test_a_default_name_is_one_no_file_has(engine: PlayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("hackmatrix-7.json", "hackmatrix-7-2.json", "hackmatrix-7-3.json"):
        path = PlaySession(engine, 7).path
        assert path == Path(name)
        path.touch()


def test_a_game_that_cannot_be_saved_is_said_and_goes_on(engine: PlayEngine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    session = PlaySession(engine, 7, tmp_path / "file" / "game.json")
    session.act(UP)
    session.save()
    assert session.message.is_refusal
    assert "cannot be written" in session.message.lines[0]
    with pytest.raises(UsageError, match="cannot be written"):
        session.keep()
    session.act(UP)
    assert len(session.game.turns) == 2


SEEDS = st.integers(0, 2**64 - 1)


def course(random: np.random.Generator, engine: PlayEngine, seed: int, steps: int) -> list[PlayedGame]:
    games = [engine.start(seed)]
    while len(games) <= steps and games[-1].mask.any():
        games.append(engine.play(games[-1], int(random.choice(np.flatnonzero(games[-1].mask)))))
    return games


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.integers(0, 2**32 - 1), st.integers(0, 12))
def test_what_a_look_shows_is_what_playing_then_gives(engine: PlayEngine, seed: int, choices: int, steps: int) -> None:
    random = np.random.default_rng(choices)
    here = course(random, engine, seed, steps)[-1]
    seen = [engine.look(here, int(action)) for action in np.flatnonzero(here.mask)]
    if seen:
        chosen = int(random.integers(len(seen)))
        played = engine.play(here, int(np.flatnonzero(here.mask)[chosen]))
        assert played.state == seen[chosen].state
        assert played.components == seen[chosen].components
        np.testing.assert_array_equal(played.mask, seen[chosen].mask)
        np.testing.assert_array_equal(played.observation, seen[chosen].observation)


def test_a_look_leaves_the_game_alone_even_where_no_action_is_invalid(engine: PlayEngine) -> None:
    """Then the game that is played is moved too, and must be put back."""
    guarded = engine.engine
    everything = rich(
        *(virus(2, 5), daemon(5, 2), glitch(4, 4), coming("virus", 0, 0, turns=3)),
        *(data(3, 3, points=4), data(4, 4, points=4)),
        hp=2,
        dataSiphons=1,
        owned=" ".join(ACTION),
        siphoned=((0, 5),),
        stage=2,
    )
    game = engine.start(0)
    guarded.set_state([{**everything, "history": everything}], np.array([0]))
    before = guarded.get_state(np.array([0]))
    assert guarded.mask()[0].all(), [ACTIONS[action] for action in np.flatnonzero(~guarded.mask()[0])]
    for action in range(0, NUM_ACTIONS, 3):
        engine.look(game, action)
        assert guarded.get_state(np.array([0])) == before

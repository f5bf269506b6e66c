"""Whole published games through the harness's own interface; ``tests/rules`` plays them on the JAX engine."""

import json
from pathlib import Path

import numpy as np
import pytest

import parity
from hackmatrix import rules

GAMES = json.loads((Path(__file__).parents[1] / "rules" / "known-answers.json").read_text())["games"]


def test_R1_known_games_come_out_as_published(swift_built: None) -> None:
    with parity.open_engine("hackmatrix", "swift") as engine:
        for game in GAMES:
            engine.reset(seed=int(game["seed"]))
            assert engine.get_state() == game["first"]
            for action, components in zip(game["actions"], game["components"], strict=True):
                np.testing.assert_array_equal(engine.step(action).components, components)
            assert engine.get_state() == game["last"]


def test_the_interface_gives_what_it_promises(swift_built: None) -> None:
    with parity.open_engine("hackmatrix", "swift") as engine:
        observation = engine.reset(seed=7)
        assert observation.dtype == np.float32
        assert observation.shape == (rules.OBSERVATION_SIZE,)
        mask = engine.mask()
        assert mask.dtype == np.bool_
        assert mask.shape == (rules.NUM_ACTIONS,)
        step = engine.step(int(mask.argmax()))
        assert step.components.dtype == np.int32
        assert step.components.shape == (15,)
        assert step.reward == float(np.float32(step.components.sum()) / np.float32(1000))
        assert not step.terminated
        state = engine.get_state()
        np.testing.assert_array_equal(engine.set_state(state), step.observation)
        assert engine.get_state() == state
        with pytest.raises(parity.StateRefused, match="hp"):
            engine.set_state({**state, "player": {**state["player"], "hp": 4}})
        assert engine.get_state() == state


def test_a_batch_goes_on_with_the_next_game_by_itself(swift_built: None) -> None:
    batch = parity.open_batch("hackmatrix", "swift", 7)
    try:
        batch.reset(7)
        invalid = (~batch.mask()).argmax(axis=1)
        step = batch.step(invalid)
        assert step.terminated.all()
        assert [state["turn"] for state in batch.get_state()] == [0] * 7
        assert len({state["seed"] for state in batch.get_state()} | set(range(7, 14))) == 14
    finally:
        batch.close()

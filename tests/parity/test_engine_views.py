"""The public views of an engine: one game, and a batch that restarts what ends."""

import numpy as np
import pytest

import rlparity
from rlparity import StateRefused

ORCHARD = "faulty_orchard:WORLD"
REST = 5


def test_a_single_game_is_what_the_batch_says_and_its_state_is_taken_by_every_engine() -> None:
    with rlparity.open_engine(ORCHARD, "planes") as engine, rlparity.open_engine(ORCHARD, "plain") as other:
        first = engine.reset(seed=7)
        assert first.shape == (34,)
        assert first.dtype == np.float32
        assert engine.mask().tolist()[REST] is True
        step = engine.step(REST)
        assert step.components.tolist()[0] == -10
        assert step.components.dtype == np.int32
        assert isinstance(step.reward, float)
        assert (step.terminated, step.truncated, step.facts, step.events) == (False, False, (), 0)
        state = engine.get_state()
        assert state["turn"] == 1
        observation = other.set_state(state)
        assert other.get_state() == state
        assert observation.tolist() == engine.set_state(state).tolist() == step.observation.tolist()
        # What was handed out does not change afterwards.
        assert engine.reset(seed=7).tolist() == first.tolist()


def test_a_game_without_a_seed_gets_a_new_one_and_bad_seeds_actions_and_states_are_refused() -> None:
    with rlparity.open_engine(ORCHARD, "plain") as engine:
        engine.reset()
        state = engine.get_state()
        engine.reset()
        assert engine.get_state()["seed"] != state["seed"]
        with pytest.raises(ValueError, match="seed -1 is outside"):
            engine.reset(seed=-1)
        for action in (-1, 6):
            with pytest.raises(ValueError, match=f"action {action} is outside 0 … 5"):
                engine.step(action)
        with pytest.raises(StateRefused):
            engine.set_state({**state, "hp": 9})
    batch = rlparity.open_batch(ORCHARD, "plain", 3)
    batch.reset(0)
    for actions in (np.zeros(2, dtype=int), np.zeros(3)):
        with pytest.raises(ValueError, match="give 3 integers"):
            batch.step(actions)


def test_a_batch_starts_from_successive_seeds_and_restarts_what_ends() -> None:
    batch = rlparity.open_batch(ORCHARD, "planes", 3)
    batch.reset(2**64 - 2)
    assert [state["seed"] for state in batch.get_state()] == [2**64 - 2, 2**64 - 1, 0]
    states = batch.get_state()
    states[1] = {**states[1], "hp": 1, "walker": 0, "wasp": 0, "apples": [{"cell": 9, "ripeness": 1}]}
    batch.set_state(states)
    step = batch.step(np.array([REST, 4, REST]))  # there is nothing to pick
    assert step.terminated.tolist() == [False, True, False]
    assert step.components[1].tolist() == [0, 0, 0]
    follower = batch.get_state([1])[0]
    with rlparity.open_engine(ORCHARD, "plain") as alone:
        assert step.observation[1].tolist() == alone.set_state(follower).tolist()
    assert follower["turn"] == 0
    assert follower["seed"] not in (2**64 - 1, 0)
    batch.close()

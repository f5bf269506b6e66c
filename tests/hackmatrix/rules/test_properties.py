"""Properties of every state of every game, over random states."""

from hypothesis import given
from hypothesis import strategies as st

from hackmatrix import rules

from .builders import SIPHON, random_state
from .engines import SWIFT, Engine
from .tables import ACTION, REWARD_NAMES

numbers = st.integers(0, 2**32)


@given(number=numbers)
def test_M_C1_A3_A7_an_action_is_invalid_or_leaves_a_valid_board(
    swift_built: None, engine: Engine, number: int
) -> None:
    start = engine.complete(random_state(number))
    valid = engine.mask(start)
    everything = range(rules.NUM_ACTIONS)
    for action, after in enumerate(engine.plays([start] * len(everything), everything)):
        assert after.invalid_action is not valid[action], action
        if after.invalid_action:
            assert (after.state, any(after.components.values()), after.terminated) == (start, False, True)
        else:
            assert after.state["eventNumber"] == (start["eventNumber"] + 1) % 2**32
            assert SWIFT.complete(after.state) == after.state  # it refuses what breaks A3 or A7


@given(number=numbers, choice=st.integers(0, 999))
def test_P_UNDO_undoes_every_turn(engine: Engine, number: int, choice: int) -> None:
    start = engine.complete(random_state(number))
    start["ownedPrograms"] = sorted({*start["ownedPrograms"], ACTION["undo"]})
    start["player"]["credits"] = max(1, start["player"]["credits"])
    turns = [action for action in (0, 1, 2, 3, SIPHON, ACTION["wait"]) if engine.mask(start)[action]]
    if not turns:
        return
    outcome = engine.play(start, turns[choice % len(turns)])
    if outcome.terminated or outcome.stage_complete:
        return
    undone = engine.play(outcome.state, ACTION["undo"])
    none = {"history": None, "killsSinceHistory": 0, "pickupsSinceHistory": 0}
    paid = start["player"] | {"credits": start["player"]["credits"] - 1}
    expected = start | none | {"player": paid, "eventNumber": undone.state["eventNumber"]}
    if outcome.state["player"]["credits"] == 0:
        assert undone.invalid_action
    else:
        assert undone.state == expected
        both = {name: outcome.components[name] + undone.components[name] for name in REWARD_NAMES}
        # W3: doing and undoing earns nothing, what was missed or wasted stays.
        assert sum(both.values()) <= both["step_penalty"] + both["resource_gain"]
        assert both["kills"] == both["data_siphon"] == both["score_gain"] == both["distance_shaping"] == 0

"""Properties of every state of every game, over random states."""

from hypothesis import given
from hypothesis import strategies as st

from hackmatrix import rules

from .blocks import CORNERS
from .builders import SIPHON, random_state
from .engines import Engine, StateDict, places
from .tables import ACTION, MAX_HP, REWARD_NAMES

numbers = st.integers(0, 2**32)


def faults(state: StateDict) -> list[str]:
    """The parts of A3 (nothing overlaps) and A7 (ranges) that a state breaks."""
    player, exit_place = places([state["player"], state["exit"]])
    enemies, coming, blocks = (places(state[name]) for name in ("enemies", "transmissions", "blocks"))
    pickups = places([entry for entry in state["resources"] if entry["dataSiphon"]])
    numbers = state["player"]
    rules = {
        "A3 one mover a cell": len({*enemies, *coming}) == len(enemies) + len(coming),
        "A3 none in the player's cell": player not in [*enemies, *coming],
        "A3 no transmission on a block": not set(coming) & set(blocks),
        "A3 one of block, pickup, exit": len({*blocks, *pickups, exit_place}) == len(blocks) + len(pickups) + 1,
        "A4 points and spawn": all(
            1 <= block.get("points", 1) <= 9 and 0 <= block["spawnCount"] <= 9 for block in state["blocks"]
        ),
        "A5 hp": all(1 <= enemy["hp"] <= MAX_HP[enemy["type"]] for enemy in state["enemies"]),
        "A7 hp": 0 <= numbers["hp"] <= 3,
        "A7 attack": 1 <= numbers["attackDamage"] <= 3,
        "A7 numbers": all(0 <= numbers[name] <= 9999 for name in ("credits", "energy", "dataSiphons", "score")),
        "A7 pending": 0 <= state["pendingSiphonTransmissions"] <= 9999,
        "A7 turns": all(0 <= entry["turnsRemaining"] <= 255 for entry in state["transmissions"]),
        "A7 disabled": all(0 <= enemy["disabledTurns"] <= 255 for enemy in state["enemies"]),
        "B3 exit": exit_place in CORNERS,
        "lists in row-major order": all(
            places(state[name]) == sorted(set(places(state[name])))
            for name in ("enemies", "transmissions", "blocks", "resources", "siphoned", "siphonCenters")
        ),
    }
    return [rule for rule, holds in rules.items() if not holds]


def pick(valid: list[bool], choice: int) -> int:
    actions = [action for action, is_valid in enumerate(valid) if is_valid]
    return actions[choice % len(actions)]


@given(number=numbers)
def test_M_C1_A3_A7_an_action_is_invalid_or_leaves_a_valid_board(engine: Engine, number: int) -> None:
    start = engine.complete(random_state(number))
    valid = engine.mask(start)
    everything = range(rules.NUM_ACTIONS)
    for action, after in enumerate(engine.plays([start] * len(everything), everything)):
        assert after.invalid_action is not valid[action], action
        if after.invalid_action:
            assert (after.state, any(after.components.values()), after.terminated) == (start, False, True)
        else:
            assert after["eventNumber"] == (start["eventNumber"] + 1) % 2**32
            assert not faults(after.state)


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

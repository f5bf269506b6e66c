"""The state dict "S" of the protocol: what set_state takes, what get_state gives, and what is refused."""

import copy
import json
import re
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hackmatrix import jax_env, rules
from rlparity.errors import StateRefused

from .blocks import credits, data, energy, pickup, program, question
from .builders import list_of, random_state, state
from .engines import SWIFT, Engine, Entry, Json, StateDict, only
from .movers import coming, cryptog, daemon, glitch, virus
from .tables import ACTION, PROGRAM_TABLE

TOO_HIGH, TURNS = 10_000, 2**32
COUNTS = ("killsSinceHistory", "pickupsSinceHistory")


def placed(**fields: Json) -> StateDict:
    return {"player": {"row": 2, "col": 2} | fields}


def past(**fields: Json) -> StateDict:
    return state(history=state(**fields))


def each(make: Callable[..., Json], **wrong: Sequence[Json]) -> list[tuple[Json, str]]:
    """Call a builder with every wrong value of a field; pairs of its result and the field's name."""
    return [(make(**{field: value}), field) for field, values in wrong.items() for value in values]


def one(entry: Entry, **fields: Json) -> StateDict:
    return state(entry | fields)


with_enemy, with_coming, with_block = (
    partial(one, entry) for entry in (virus(1, 1), coming("virus", 1, 1), data(1, 1))
)


def without(entry: StateDict, key: str) -> StateDict:
    return state(**{list_of(entry): [{name: value for name, value in entry.items() if name != key}]})


# (broken dict, what the message must match: the name of the field)
BROKEN: list[tuple[Json, str]] = [
    # the whole
    ([], "state"),
    (None, "state"),
    ("player", "state"),
    ({}, "player"),
    (state() | {"enemis": []}, "enemis"),
    (state() | {"player": None}, "player"),
    (state() | {"player": []}, "player"),
    # the player
    ({"player": {"col": 2}}, "row"),
    ({"player": {"row": 2}}, "col"),
    *each(
        placed, row=[6, -1, "2", 2.5, True], col=[6, None], hp=[4, -1, 2.5, "3", True], attackDamage=[0, 4], gold=[1]
    ),
    *each(placed, **{name: [-1, TOO_HIGH, 2**70] for name in ("credits", "energy", "dataSiphons", "score")}),
    # enemies
    *each(state, enemies=[{}, None, [3]]),
    (with_enemy(type="dragon"), "type.*dragon|dragon.*type"),
    *[(without(virus(1, 1), key), key) for key in ("type", "col")],
    (state(enemies=[{"row": 1, "col": 1, "type": "virus"}]), "hp"),
    *each(with_enemy, type=[0], col=[6], row=[-1], hp=[3, 0], disabledTurns=[256, -1], stunned=[1], colour=["red"]),
    *each(with_enemy, spawnedFromSiphon=["yes"], isFromScheduledTask=[None]),
    *[(state(enemy), "hp") for enemy in (daemon(1, 1, hp=4), glitch(1, 1, hp=3), cryptog(1, 1, hp=3))],
    (with_enemy(lastKnownRow=1, lastKnownCol=1), "lastKnown"),
    (state(cryptog(1, 1, lastKnownRow=1)), "lastKnownCol"),
    (state(cryptog(1, 1, lastKnownCol=1)), "lastKnownRow"),
    (state(cryptog(1, 1, lastKnownRow=6, lastKnownCol=1)), "lastKnownRow"),
    (state(virus(1, 1), daemon(1, 1)), "enem"),
    (state(virus(2, 2)), "enem|player"),
    # transmissions
    *each(state, transmissions=["none"]),
    *each(with_coming, enemyType=["dragon"], turnsRemaining=[256, -1], row=[7]),
    (state(transmissions=[coming("virus", 1, 1, hp=2)]), "hp"),
    (state(transmissions=[{"row": 1, "col": 1, "enemyType": "virus"}]), "turnsRemaining"),
    (without(coming("virus", 1, 1), "enemyType"), "enemyType"),
    (state(coming("virus", 1, 1), coming("daemon", 1, 1)), "transmission"),
    (state(coming("virus", 1, 1), virus(1, 1)), "transmission|enem"),
    (state(coming("virus", 2, 2)), "transmission|player"),
    (state(coming("virus", 1, 1), data(1, 1)), "transmission|block"),
    # blocks
    *each(state, blocks=[7]),
    *each(with_block, type=["wall"], points=[0, 10], spawnCount=[10, -1], siphoned=[1], col=[9], colour=["red"]),
    (state(blocks=[{"row": 1, "col": 1, "points": 3}]), "type"),
    (state(question(1, 1, points=10)), "points"),
    (state({"row": 1, "col": 1, "type": "program"}), "program"),
    (state(program(1, 1, "push", points=3)), "points"),
    (with_block(programActionIndex=5), "program"),
    (state(blocks=[{"row": 1, "col": 1, "type": "data", "programActionIndex": 5}]), "program"),
    (with_block(programType="push"), "program"),
    (state(question(1, 1, program="push", points=3)), "points|program"),
    *[
        (state(program(1, 1, "push") | {"programActionIndex": action}), "programActionIndex")
        for action in (4, rules.NUM_ACTIONS)
    ],
    (state({"row": 1, "col": 1, "type": "program", "programType": "fly"}), "programType"),
    (state(program(1, 1, "push", programType="pull")), "program"),
    (state(data(1, 1), program(1, 1, "push")), "block"),
    (state(data(5, 5)), "block|exit"),
    (state(data(0, 0), exit=(0, 0)), "block|exit"),
    # resources, flags of cells, exit
    *each(state, resources=[{"row": 1}]),
    (state(credits(1, 1, 4)), "credits"),
    (state(energy(1, 1, -1)), "energy"),
    (state(pickup(1, 1) | {"dataSiphon": 1}), "dataSiphon"),
    (state(credits(1, 1, 1), energy(1, 1, 1)), "resource"),
    (state(pickup(1, 1), data(1, 1)), "dataSiphon|pickup|resource"),
    (state(pickup(5, 5)), "dataSiphon|pickup|resource"),
    (state(credits(1, 1, 1) | {"gold": 1}), "gold"),
    (state({"col": 1}), "row"),
    (state() | {"siphoned": [{"row": 1, "col": 6}]}, "siphoned.*col|col.*siphoned"),
    *[(state() | {"siphoned": wrong}, "siphoned") for wrong in ([[1, 1]], True)],
    (state() | {"siphonCenters": [{"row": 6, "col": 1}]}, "siphonCenters.*row|row.*siphonCenters"),
    (state() | {"siphonCenters": [{"row": 1, "col": 1, "size": 2}]}, "size"),
    (state(exit=(2, 3)), "exit"),
    (state(exit=(0, 6)), "exit|col"),
    (state() | {"exit": {"row": 0}}, "exit|col"),
    (state() | {"exit": None}, "exit"),
    (state() | {"exit": {"row": 0, "col": 0, "open": True}}, "open"),
    # programs, stage, numbers, flags
    *each(state, ownedPrograms=[[4], [rules.NUM_ACTIONS], ["push"], [True], [5, 6, 5], 5]),
    *each(state, stage=[0, 10, "1", True, None], turn=[1.5], atkPlusUses=[3, -1], closestApproach=[36, -1]),
    *each(state, **{name: [-1, TURNS] for name in ("turn", "scheduledTaskInterval", "nextScheduledTaskTurn")}),
    *each(state, **{name: [1, "no"] for name in ("showActivated", "scheduledTasksDisabled", "stepActive")}),
    *each(state, pendingSiphonTransmissions=[TOO_HIGH, -1], seed=[-1, 2**64, "7", 1.5], eventNumber=[-1, 2**32]),
    # history
    *each(state, history=[[]]),
    (state(history={}), "history.*player|player.*history"),
    *[
        (past(**{name: value}), f"history.*{name}|{name}.*history")
        for name, value in {"hp": 4, "stage": 0, "seed": 1, "eventNumber": 1}.items()
    ],
    (past(blocks=[data(5, 5)]), "history"),
    (past(history=state()), "history"),
    *[(past(**{name: 0}), f"history.*{name}|{name}.*history") for name in COUNTS],
    *each(state, **{name: [1] for name in COUNTS}),
    (past() | {"killsSinceHistory": TOO_HIGH}, "killsSinceHistory"),
    (past() | {"pickupsSinceHistory": -1}, "pickupsSinceHistory"),
]


@pytest.mark.parametrize(("broken", "names"), BROKEN, ids=[f"{n}-{names}" for n, (_, names) in enumerate(BROKEN)])
def test_a_broken_state_is_refused_with_one_sentence_naming_the_field(broken: Json, names: str) -> None:
    given = copy.deepcopy(broken)
    with pytest.raises(StateRefused) as caught:
        jax_env.set_state(broken)
    message = str(caught.value)
    assert re.search(names, message), message
    assert not re.search(r"\n|[.!?]\s+[A-Z]", message), message
    assert 10 < len(message) < 300, message
    assert broken == given


@pytest.mark.parametrize(
    "valid",
    [
        state(hp=0),
        state(stage=9, scheduledTaskInterval=4),
        state(player=(5, 5), exit=(5, 5)),
        state(data(2, 2)),
        state(daemon(5, 5), coming("virus", 0, 5)),
        state(virus(1, 1), data(1, 1)),
        state({"row": 1, "col": 1}, credits(1, 2, 3) | {"energy": 3, "dataSiphon": True}),
        state(turn=TURNS - 1, nextScheduledTaskTurn=TURNS - 1, scheduledTaskInterval=TURNS - 1),
        state(seed=2**64 - 1, eventNumber=2**32 - 1, closestApproach=35),
        state(question(1, 1), question(1, 2, siphoned=True)),
        state(program(1, 1, "push"), program(1, 2, "push")),
        state(history=None, killsSinceHistory=0, pickupsSinceHistory=0),
        past(hp=2) | {"killsSinceHistory": 9999, "pickupsSinceHistory": 9999},
        state(coming("virus", 1, 1, turns=0), coming("virus", 1, 2, turns=255)),
        state(pendingSiphonTransmissions=9999, credits=9999, energy=9999, dataSiphons=9999, score=9999),
    ],
)
def test_the_edges_of_the_ranges_are_accepted(swift_built: None, valid: StateDict) -> None:
    assert jax_env.get_state(jax_env.set_state(valid)) == SWIFT.complete(valid)


@pytest.mark.parametrize("name", [name for name, *_ in PROGRAM_TABLE])
def test_a_program_may_be_named_by_type_by_action_or_by_both(engine: Engine, name: str) -> None:
    place = {"row": 1, "col": 1, "type": "program"}
    by_type, by_action = {"programType": name}, {"programActionIndex": ACTION[name]}
    wholes = [engine.complete(state(blocks=[place | names])) for names in (by_type, by_action, by_type | by_action)]
    assert wholes[0] == wholes[1] == wholes[2]
    assert only(wholes[0]["blocks"])["programActionIndex"] == ACTION[name]


def test_a_question_hides_a_program_if_it_names_one_else_data(engine: Engine) -> None:
    whole = engine.complete(state(question(1, 1), question(1, 2, points=3), question(1, 3, program="warp")))["blocks"]
    assert [block.get("points") for block in whole] == [5, 3, None]
    assert [block.get("programActionIndex") for block in whole] == [None, None, ACTION["warp"]]
    assert [block["spawnCount"] for block in whole] == [5, 3, 5]


@pytest.mark.parametrize("stage", range(1, 9))
def test_the_interval_follows_the_stage_unless_given(engine: Engine, stage: int) -> None:
    for said, interval in (({}, 13 - stage), ({"scheduledTaskInterval": 7}, 7)):
        whole = engine.complete(state(stage=stage, **said))
        assert whole["scheduledTaskInterval"] == whole["nextScheduledTaskTurn"] == interval


def test_a_history_has_the_same_defaults(engine: Engine) -> None:
    record = engine.complete(past(stage=4, blocks=[data(1, 1)], enemies=[cryptog(4, 4)]))["history"]
    assert record["scheduledTaskInterval"] == 9
    assert record["closestApproach"] == 6
    assert record["blocks"][0]["spawnCount"] == 5
    assert record["enemies"][0]["lastKnownRow"] == 4


def test_resources_share_a_cell_with_a_pickup_and_empty_ones_leave_no_trace(engine: Engine) -> None:
    both = {"row": 1, "col": 1, "credits": 1, "energy": 2, "dataSiphon": True}
    assert engine.complete(state(both, {"row": 1, "col": 2}, credits(2, 1, 0)))["resources"] == [both]


@given(number=st.integers(0, 2**32))
def test_set_state_of_get_state_is_the_identity(swift_built: None, number: int) -> None:
    given = jax_env.set_state(random_state(number))
    whole = jax_env.get_state(given)
    assert whole == SWIFT.complete(random_state(number))
    assert jax_env.get_state(jax_env.set_state(whole)) == whole
    assert repr(json.loads(json.dumps(whole))) == repr(whole)  # of JSON's own types alone

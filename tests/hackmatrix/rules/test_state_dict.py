"""The state dict "S" of the protocol: what set_state takes, what get_state gives, and what is refused."""

import copy
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hackmatrix import jax_env, rules
from parity.errors import StateRefused

from .builders import (
    Json,
    coming,
    credits,
    cryptog,
    daemon,
    data,
    energy,
    glitch,
    only,
    pickup,
    program,
    question,
    state,
    virus,
)
from .crowds import random_state
from .engines import ENGINES, Engine, StateDict
from .reference.board import ACTION, PROGRAM_TABLE, dump_whole, load

HERE = {"row": 2, "col": 2}


def player(**fields: Json) -> StateDict:
    """A state dict with these fields of the player."""
    return {"player": HERE | fields}


def past(**fields: Json) -> StateDict:
    """A state dict with a history of these fields."""
    return state(history=state(**fields))


TOO_HIGH, TURNS = 10_000, 2**32

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
    (player(row=6), "row"),
    (player(row=-1), "row"),
    (player(col=6), "col"),
    (player(row="2"), "row"),
    (player(row=2.5), "row"),
    (player(row=True), "row"),
    (player(col=None), "col"),
    (player(hp=4), "hp"),
    (player(hp=-1), "hp"),
    (player(hp=2.5), "hp"),
    (player(hp="3"), "hp"),
    (player(hp=True), "hp"),
    (player(attackDamage=0), "attackDamage"),
    (player(attackDamage=4), "attackDamage"),
    *[(player(**{name: -1}), name) for name in ("credits", "energy", "dataSiphons", "score")],
    *[(player(**{name: TOO_HIGH}), name) for name in ("credits", "energy", "dataSiphons", "score")],
    (player(credits=2**70), "credits"),
    (player(gold=1), "gold"),
    # enemies
    (state(enemies={}), "enemies"),
    (state(enemies=None), "enemies"),
    (state(enemies=[3]), "enemies"),
    (state(enemies=[virus(1, 1) | {"type": "dragon"}]), "type.*dragon|dragon.*type"),
    (state(enemies=[virus(1, 1) | {"type": 0}]), "type"),
    (state(enemies=[{"row": 1, "col": 1, "hp": 1}]), "type"),
    (state(enemies=[{"row": 1, "col": 1, "type": "virus"}]), "hp"),
    (state(enemies=[{"row": 1, "type": "virus", "hp": 1}]), "col"),
    (state(enemies=[virus(1, 6)]), "col"),
    (state(enemies=[virus(-1, 1)]), "row"),
    (state(enemies=[virus(1, 1, hp=3)]), "hp"),
    (state(enemies=[daemon(1, 1, hp=4)]), "hp"),
    (state(enemies=[glitch(1, 1, hp=3)]), "hp"),
    (state(enemies=[cryptog(1, 1, hp=3)]), "hp"),
    (state(enemies=[virus(1, 1) | {"hp": 0}]), "hp"),
    (state(enemies=[virus(1, 1, disabledTurns=256)]), "disabledTurns"),
    (state(enemies=[virus(1, 1, disabledTurns=-1)]), "disabledTurns"),
    (state(enemies=[virus(1, 1, stunned=1)]), "stunned"),
    (state(enemies=[virus(1, 1, spawnedFromSiphon="yes")]), "spawnedFromSiphon"),
    (state(enemies=[virus(1, 1, isFromScheduledTask=None)]), "isFromScheduledTask"),
    (state(enemies=[virus(1, 1, lastKnownRow=1, lastKnownCol=1)]), "lastKnown"),
    (state(enemies=[cryptog(1, 1, lastKnownRow=1)]), "lastKnownCol"),
    (state(enemies=[cryptog(1, 1, lastKnownCol=1)]), "lastKnownRow"),
    (state(enemies=[cryptog(1, 1, lastKnownRow=6, lastKnownCol=1)]), "lastKnownRow"),
    (state(enemies=[virus(1, 1, colour="red")]), "colour"),
    (state(enemies=[virus(1, 1), daemon(1, 1)]), "enem"),
    (state(enemies=[virus(2, 2)]), "enem|player"),
    # transmissions
    (state(transmissions="none"), "transmissions"),
    (state(transmissions=[coming("dragon", 1, 1)]), "enemyType"),
    (state(transmissions=[coming("virus", 1, 1, turns=256)]), "turnsRemaining"),
    (state(transmissions=[coming("virus", 1, 1, turns=-1)]), "turnsRemaining"),
    (state(transmissions=[{"row": 1, "col": 1, "enemyType": "virus"}]), "turnsRemaining"),
    (state(transmissions=[{"row": 1, "col": 1, "turnsRemaining": 1}]), "enemyType"),
    (state(transmissions=[coming("virus", 7, 1)]), "row"),
    (state(transmissions=[coming("virus", 1, 1, hp=2)]), "hp"),
    (state(transmissions=[coming("virus", 1, 1), coming("daemon", 1, 1)]), "transmission"),
    (state(transmissions=[coming("virus", 1, 1)], enemies=[virus(1, 1)]), "transmission|enem"),
    (state(transmissions=[coming("virus", 2, 2)]), "transmission|player"),
    (state(transmissions=[coming("virus", 1, 1)], blocks=[data(1, 1)]), "transmission|block"),
    # blocks
    (state(blocks=7), "blocks"),
    (state(blocks=[data(1, 1) | {"type": "wall"}]), "type"),
    (state(blocks=[{"row": 1, "col": 1, "points": 3}]), "type"),
    (state(blocks=[data(1, 1, points=0)]), "points"),
    (state(blocks=[data(1, 1, points=10)]), "points"),
    (state(blocks=[question(1, 1, points=10)]), "points"),
    (state(blocks=[data(1, 1, spawnCount=10)]), "spawnCount"),
    (state(blocks=[data(1, 1, spawnCount=-1)]), "spawnCount"),
    (state(blocks=[data(1, 1, siphoned=1)]), "siphoned"),
    (state(blocks=[{"row": 1, "col": 1, "type": "program"}]), "program"),
    (state(blocks=[program(1, 1, "push", points=3)]), "points"),
    (state(blocks=[data(1, 1, programActionIndex=5)]), "program"),
    (state(blocks=[data(1, 1, programType="push")]), "program"),
    (state(blocks=[question(1, 1, program="push", points=3)]), "points|program"),
    (state(blocks=[program(1, 1, "push") | {"programActionIndex": 4}]), "programActionIndex"),
    (state(blocks=[program(1, 1, "push") | {"programActionIndex": rules.NUM_ACTIONS}]), "programActionIndex"),
    (state(blocks=[{"row": 1, "col": 1, "type": "program", "programType": "fly"}]), "programType"),
    (state(blocks=[program(1, 1, "push", programType="pull")]), "program"),
    (state(blocks=[data(1, 1), program(1, 1, "push")]), "block"),
    (state(blocks=[data(5, 5)]), "block|exit"),
    (state(blocks=[data(0, 0)], exit=(0, 0)), "block|exit"),
    (state(blocks=[data(1, 9)]), "col"),
    (state(blocks=[data(1, 1, colour="red")]), "colour"),
    # resources, flags of cells, exit
    (state(resources={"row": 1}), "resources"),
    (state(resources=[credits(1, 1, 4)]), "credits"),
    (state(resources=[energy(1, 1, -1)]), "energy"),
    (state(resources=[pickup(1, 1) | {"dataSiphon": 1}]), "dataSiphon"),
    (state(resources=[credits(1, 1, 1), energy(1, 1, 1)]), "resource"),
    (state(resources=[pickup(1, 1)], blocks=[data(1, 1)]), "dataSiphon|pickup|resource"),
    (state(resources=[pickup(5, 5)]), "dataSiphon|pickup|resource"),
    (state(resources=[credits(1, 1, 1) | {"gold": 1}]), "gold"),
    (state(resources=[{"col": 1}]), "row"),
    (state() | {"siphoned": [{"row": 1, "col": 6}]}, "siphoned.*col|col.*siphoned"),
    (state() | {"siphoned": [[1, 1]]}, "siphoned"),
    (state() | {"siphoned": True}, "siphoned"),
    (state() | {"siphonCenters": [{"row": 6, "col": 1}]}, "siphonCenters.*row|row.*siphonCenters"),
    (state() | {"siphonCenters": [{"row": 1, "col": 1, "size": 2}]}, "size"),
    (state(exit=(2, 3)), "exit"),
    (state(exit=(0, 6)), "exit|col"),
    (state() | {"exit": {"row": 0}}, "exit|col"),
    (state() | {"exit": None}, "exit"),
    (state() | {"exit": {"row": 0, "col": 0, "open": True}}, "open"),
    # programs, stage, numbers, flags
    (state(ownedPrograms=[4]), "ownedPrograms"),
    (state(ownedPrograms=[rules.NUM_ACTIONS]), "ownedPrograms"),
    (state(ownedPrograms=["push"]), "ownedPrograms"),
    (state(ownedPrograms=[True]), "ownedPrograms"),
    (state(ownedPrograms=[5, 6, 5]), "ownedPrograms"),
    (state(ownedPrograms=5), "ownedPrograms"),
    (state(stage=0), "stage"),
    (state(stage=10), "stage"),
    (state(stage="1"), "stage"),
    (state(stage=True), "stage"),
    (state(stage=None), "stage"),
    *[(state(**{name: -1}), name) for name in ("turn", "scheduledTaskInterval", "nextScheduledTaskTurn")],
    *[(state(**{name: TURNS}), name) for name in ("turn", "scheduledTaskInterval", "nextScheduledTaskTurn")],
    (state(turn=1.5), "turn"),
    *[(state(**{name: 1}), name) for name in ("showActivated", "scheduledTasksDisabled", "stepActive")],
    *[(state(**{name: "no"}), name) for name in ("showActivated", "scheduledTasksDisabled", "stepActive")],
    (state(atkPlusUses=3), "atkPlusUses"),
    (state(atkPlusUses=-1), "atkPlusUses"),
    (state(pendingSiphonTransmissions=TOO_HIGH), "pendingSiphonTransmissions"),
    (state(pendingSiphonTransmissions=-1), "pendingSiphonTransmissions"),
    (state(closestApproach=36), "closestApproach"),
    (state(closestApproach=-1), "closestApproach"),
    (state(seed=-1), "seed"),
    (state(seed=2**64), "seed"),
    (state(seed="7"), "seed"),
    (state(seed=1.5), "seed"),
    (state(eventNumber=-1), "eventNumber"),
    (state(eventNumber=2**32), "eventNumber"),
    # history
    (state(history=[]), "history"),
    (state(history={}), "history.*player|player.*history"),
    (past(hp=4), "history.*hp|hp.*history"),
    (past(blocks=[data(5, 5)]), "history"),
    (past(stage=0), "history.*stage|stage.*history"),
    (past(history=state()), "history"),
    (past(seed=1), "history.*seed|seed.*history"),
    (past(eventNumber=1), "history.*eventNumber|eventNumber.*history"),
    (past(killsSinceHistory=0), "history.*killsSinceHistory|killsSinceHistory.*history"),
    (past(pickupsSinceHistory=0), "history.*pickupsSinceHistory|pickupsSinceHistory.*history"),
    (state(killsSinceHistory=1), "killsSinceHistory"),
    (state(pickupsSinceHistory=1), "pickupsSinceHistory"),
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
        state(blocks=[data(2, 2)]),
        state(enemies=[daemon(5, 5)], transmissions=[coming("virus", 0, 5)]),
        state(enemies=[virus(1, 1)], blocks=[data(1, 1)]),
        state(resources=[{"row": 1, "col": 1}, {"row": 1, "col": 2, "credits": 3, "energy": 3, "dataSiphon": True}]),
        state(turn=TURNS - 1, nextScheduledTaskTurn=TURNS - 1, scheduledTaskInterval=TURNS - 1),
        state(seed=2**64 - 1, eventNumber=2**32 - 1, closestApproach=35),
        state(blocks=[question(1, 1), question(1, 2, siphoned=True)]),
        state(blocks=[program(1, 1, "push"), program(1, 2, "push")]),
        state(history=None, killsSinceHistory=0, pickupsSinceHistory=0),
        past(hp=2) | {"killsSinceHistory": 9999, "pickupsSinceHistory": 9999},
        state(transmissions=[coming("virus", 1, 1, turns=0), coming("virus", 1, 2, turns=255)]),
        state(pendingSiphonTransmissions=9999, credits=9999, energy=9999, dataSiphons=9999, score=9999),
    ],
)
def test_the_edges_of_the_ranges_are_accepted(valid: StateDict) -> None:
    assert jax_env.get_state(jax_env.set_state(valid)) == dump_whole(load(valid))


@pytest.mark.parametrize("name", [name for name, *_ in PROGRAM_TABLE])
def test_a_program_may_be_named_by_type_by_action_or_by_both(engine: Engine, name: str) -> None:
    place = {"row": 1, "col": 1, "type": "program"}
    by_type, by_action = {"programType": name}, {"programActionIndex": ACTION[name]}
    if engine is ENGINES["reference"]:
        assert only(engine.complete(state(blocks=[place | by_type]))["blocks"])["programActionIndex"] == ACTION[name]
        return
    wholes = [engine.complete(state(blocks=[place | names])) for names in (by_type, by_action, by_type | by_action)]
    assert wholes[0] == wholes[1] == wholes[2]
    assert only(wholes[0]["blocks"])["programActionIndex"] == ACTION[name]


def test_a_question_hides_a_program_if_it_names_one_else_data(engine: Engine) -> None:
    blocks = [question(1, 1), question(1, 2, points=3), question(1, 3, program="warp")]
    whole = engine.complete(state(blocks=blocks))["blocks"]
    assert [block.get("points") for block in whole] == [5, 3, None]
    assert [block.get("programActionIndex") for block in whole] == [None, None, ACTION["warp"]]
    assert [block["spawnCount"] for block in whole] == [5, 3, 5]


@pytest.mark.parametrize("stage", range(1, 9))
def test_the_interval_follows_the_stage_unless_said(engine: Engine, stage: int) -> None:
    whole = engine.complete(state(stage=stage))
    assert whole["scheduledTaskInterval"] == whole["nextScheduledTaskTurn"] == 13 - stage
    said = engine.complete(state(stage=stage, scheduledTaskInterval=7))
    assert said["scheduledTaskInterval"] == said["nextScheduledTaskTurn"] == 7


def test_a_history_has_the_same_defaults(engine: Engine) -> None:
    record = engine.complete(past(stage=4, blocks=[data(1, 1)], enemies=[cryptog(4, 4)]))["history"]
    assert record["scheduledTaskInterval"] == 9
    assert record["closestApproach"] == 6
    assert record["blocks"][0]["spawnCount"] == 5
    assert record["enemies"][0]["lastKnownRow"] == 4


def test_a_pickup_and_resources_share_a_cell(engine: Engine) -> None:
    both = {"row": 1, "col": 1, "credits": 1, "energy": 2, "dataSiphon": True}
    assert engine.complete(state(resources=[both]))["resources"] == [both]


def test_an_empty_resource_entry_leaves_no_trace(engine: Engine) -> None:
    assert engine.complete(state(resources=[{"row": 1, "col": 1}, credits(2, 1, 0)]))["resources"] == []


@given(number=st.integers(0, 2**32))
def test_set_state_of_get_state_is_the_identity(number: int) -> None:
    given = jax_env.set_state(random_state(number))
    whole = jax_env.get_state(given)
    assert whole == dump_whole(load(random_state(number)))
    assert jax_env.get_state(jax_env.set_state(whole)) == whole


def plain(value: Json) -> bool:
    """Whether a value is built of JSON's own types alone."""
    if isinstance(value, dict):
        return all(type(key) is str and plain(entry) for key, entry in value.items())
    if isinstance(value, list):
        return all(plain(entry) for entry in value)
    return type(value) in (int, bool, str, type(None))


def test_get_state_gives_plain_python_values() -> None:
    assert plain(jax_env.get_state(jax_env.set_state(random_state(5))))

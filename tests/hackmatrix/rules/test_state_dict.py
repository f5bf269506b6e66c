"""The state dict "S" of the protocol: what set_state takes, what get_state gives, and what is refused."""

import copy
import functools
import json
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hackmatrix import jax_env, rules
from hackmatrix.jax_env.state_from_dict import read_state
from rlparity.errors import StateRefused
from tests.hackmatrix.swift_env.test_fuzz import places

from .blocks import credits, data, energy, pickup, program, question
from .builders import random_state, rich, state
from .engines import SWIFT, Engine, Json, StateDict, only
from .movers import coming, cryptog, daemon, virus
from .tables import ACTION, PROGRAM_TABLE

TURNS = 2**32


def past(**fields: Json) -> StateDict:
    return state(history=state(**fields))


# (broken dict, what the message must match: the name of the field)
BROKEN: list[tuple[Json, str]] = [
    ([], "state"),
    (None, "state"),
    ({}, "player"),
    (state() | {"enemis": []}, "enemis"),
    (state(enemies=[3]), "enemies"),
    (state(virus(1, 1, type="dragon")), "type.*dragon|dragon.*type"),
    (state(virus(1, 1, lastKnownRow=1, lastKnownCol=1)), "lastKnown"),
    (state(cryptog(1, 1, lastKnownRow=1)), "lastKnownCol"),
    (state({"row": 1, "col": 1, "type": "program"}), "program"),
    (state({"row": 1, "col": 1, "type": "program", "programType": "fly"}), "programType"),
    (state(data(1, 1, programActionIndex=5)), "program"),
    (state(program(1, 1, "push", programType="pull")), "program"),
    (state(question(1, 1, program="push", points=3)), "points|program"),
    # what lies or stands in one cell
    (state(virus(1, 1), daemon(1, 1)), "enem"),
    (state(virus(2, 2)), "enem|player"),
    (state(coming("virus", 1, 1), coming("daemon", 1, 1)), "transmission"),
    (state(coming("virus", 1, 1), virus(1, 1)), "transmission|enem"),
    (state(coming("virus", 2, 2)), "transmission|player"),
    (state(coming("virus", 1, 1), data(1, 1)), "transmission|block"),
    (state(data(1, 1), program(1, 1, "push")), "block"),
    (state(data(0, 0), exit=(0, 0)), "block|exit"),
    (state(credits(1, 1, 1), energy(1, 1, 1)), "resource"),
    (state(pickup(1, 1), data(1, 1)), "dataSiphon|pickup|resource"),
    (state(pickup(5, 5)), "dataSiphon|pickup|resource"),
    (state(exit=(2, 3)), "exit"),
    (state(ownedPrograms=[5, 6, 5]), "ownedPrograms"),
    # history
    (state(history={}), "history.*player|player.*history"),
    (past(stage=0), "history.*stage|stage.*history"),
    (past(blocks=[data(5, 5)]), "history"),
    (past(history=state()), "history"),
    (past(killsSinceHistory=0), "history.*killsSinceHistory"),
    (state(killsSinceHistory=1), "killsSinceHistory"),
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


def completed_by_jax(given: StateDict) -> StateDict:
    return jax_env.get_state(read_state(given))


def told(complete: Callable[[StateDict], StateDict], given: StateDict) -> StateDict | str:
    """The full form of a state, or the sentence with which it is refused."""
    try:
        return complete(given)
    except StateRefused as refusal:
        return str(refusal)


EVERYTHING = rich(
    *(virus(0, 1), cryptog(0, 2), coming("glitch", 0, 3), data(1, 1), program(1, 2, "push"), question(1, 3)),
    *(credits(3, 3, 2), pickup(0, 5)),
    owned="push undo",
    siphoned=((1, 1), (4, 4)),
    centres=((4, 4),),
)
WRONG: tuple[Any, ...] = (
    *(-1, 0, 2, 4, 5, 6, 10, rules.NUM_ACTIONS, 36, 256, 10_000, 2**32, 2**64),
    *(0.5, True, "7", None, [], {}),
)
"""Among them the numbers just beyond all ranges."""


def altered() -> Iterator[StateDict]:
    """States with anything in the place of each value of each kind, without it, or with something beside it."""
    whole = SWIFT.complete(EVERYTHING)
    kinds = {tuple("" if isinstance(key, int) else key for key in path): path for path in places(whole)}
    for *way, last in kinds.values():
        for value in (*WRONG, ...):
            copied = copy.deepcopy(whole)
            holder = functools.reduce(operator.getitem, way, copied)
            if value is ...:
                del holder[last]
            else:
                holder[last] = value
            yield copied
        if isinstance(holder, dict):
            holder["extra"] = 1
            yield copied


def test_whatever_is_wrong_both_engines_take_the_same_state_or_refuse_it_for_the_same_field(swift_built: None) -> None:
    refused = Counter[bool]()
    for wrong in altered():
        swift, jax = (told(complete, wrong) for complete in (SWIFT.complete, completed_by_jax))
        if isinstance(swift, str) and isinstance(jax, str):
            (named,) = re.findall(r"^the state for game 0: (?:unknown field )?([\w.[\]]+)", swift)
            refused[named in jax] += 1
        else:
            assert swift == jax, wrong
    assert refused[True] > 20 * refused[False], refused


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
    assert completed_by_jax(valid) == SWIFT.complete(valid)


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

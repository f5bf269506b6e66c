"""Chapter M: the 28 valid actions."""

from typing import Any

import pytest

from hackmatrix import rules

from .blocks import data, pickup
from .builders import APPLICABLE, DOWN, LEFT, NOT_APPLICABLE, RIGHT, SIPHON, UP, rich, state
from .engines import Engine, Entry, Json, StateDict
from .movers import coming, glitch
from .tables import ACTION, COST, PROGRAM_TABLE

NAMES = [name for name, *_ in PROGRAM_TABLE]


@pytest.mark.parametrize(
    ("start", "valid"),
    [
        (state(player=(0, 0)), {UP, RIGHT}),
        (state(player=(5, 0)), {DOWN, RIGHT}),
        (state(player=(0, 5)), {UP, LEFT}),
        (state(player=(5, 5)), {DOWN, LEFT}),
        (state(player=(0, 3)), {UP, LEFT, RIGHT}),
        (state(player=(3, 5)), {UP, DOWN, LEFT}),
        (state(), {UP, DOWN, LEFT, RIGHT}),
        # A block closes a neighbour unless an enemy stands on it.
        (state(data(3, 2), data(1, 2), data(2, 1), glitch(3, 2)), {UP, RIGHT}),
        # Pickups, exits, transmissions and enemies close nothing.
        (state(coming("virus", 3, 5), glitch(4, 4), pickup(3, 5), player=(4, 5), exit=(5, 5)), {UP, DOWN, LEFT}),
    ],
)
def test_M1_moves_onto_open_cells_of_the_board(engine: Engine, start: StateDict, valid: set[int]) -> None:
    mask = engine.mask(start)
    assert {action for action in range(rules.NUM_ACTIONS) if mask[action]} == valid


@pytest.mark.parametrize("held", [0, 1, 2, 9999])
def test_M2_siphon_needs_a_data_siphon_and_nothing_else(engine: Engine, held: int) -> None:
    bare = state(dataSiphons=held, siphoned=((2, 2), (3, 2), (1, 2), (2, 1), (2, 3)))
    assert engine.mask(bare)[SIPHON] is (held > 0)


def programs_valid(engine: Engine, *entries: Entry, **fields: Json) -> set[str]:
    mask = engine.mask(rich(*entries, **fields))
    return {name for name in NAMES if mask[ACTION[name]]}


@pytest.mark.parametrize("name", NAMES)
def test_M3_valid_when_owned_paid_for_and_applicable(engine: Engine, name: str) -> None:
    cost = dict(zip(("credits", "energy"), COST[ACTION[name]], strict=True))
    enough = cost | APPLICABLE[name] | {"owned": name}
    assert programs_valid(engine, **enough) == {name}
    others = " ".join(other for other in NAMES if other != name)
    assert name not in programs_valid(engine, **(APPLICABLE[name] | {"owned": others}))
    for resource, amount in cost.items():
        if amount:
            assert programs_valid(engine, **(enough | {resource: amount - 1})) == set(), resource


@pytest.mark.parametrize(
    ("name", "fields"), [(name, fields) for name in NOT_APPLICABLE for fields in NOT_APPLICABLE[name]]
)
def test_M3_not_valid_when_not_applicable(engine: Engine, name: str, fields: dict[str, Any]) -> None:
    assert programs_valid(engine, owned=name, **fields) == set()


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("crash", {"transmissions": [coming("virus", 1, 1)]}),
        ("crash", {"enemies": [glitch(1, 2)]}),
        ("warp", {"transmissions": [coming("virus", 5, 5)]}),
        ("score", {"stage": 7}),
        ("atk+", {"attackDamage": 2, "atkPlusUses": 1}),
        ("step", {"stepActive": True}),
        ("hack", {"blocks": [data(5, 5, siphoned=True)], "exit": (0, 0)}),
        ("row", {"enemies": [glitch(2, 0)], "blocks": [data(2, 1)]}),
    ],
)
def test_M3_applicability_has_no_hidden_condition(engine: Engine, name: str, fields: dict[str, Any]) -> None:
    assert programs_valid(engine, owned=name, **fields) == {name}

"""Chapter M: the 28 valid actions."""

from typing import Any

import pytest

from hackmatrix import rules

from .builders import APPLICABLE, DOWN, LEFT, NOT_APPLICABLE, RIGHT, SIPHON, UP, Json, coming, data, glitch, rich, state
from .engines import Engine
from .reference.board import ACTION, COST, PROGRAM_TABLE

NAMES = [name for name, *_ in PROGRAM_TABLE]


@pytest.mark.parametrize(
    ("player", "valid"),
    [
        ((0, 0), {UP, RIGHT}),
        ((5, 0), {DOWN, RIGHT}),
        ((0, 5), {UP, LEFT}),
        ((5, 5), {DOWN, LEFT}),
        ((0, 3), {UP, LEFT, RIGHT}),
        ((3, 5), {UP, DOWN, LEFT}),
        ((2, 2), {UP, DOWN, LEFT, RIGHT}),
    ],
)
def test_M1_moves_stay_on_the_board(engine: Engine, player: tuple[int, int], valid: set[int]) -> None:
    mask = engine.mask(state(player=player))
    assert {action for action in range(rules.NUM_ACTIONS) if mask[action]} == valid


def test_M1_a_block_closes_a_neighbour_unless_an_enemy_stands_on_it(engine: Engine) -> None:
    blocks = [data(3, 2), data(1, 2), data(2, 1)]
    mask = engine.mask(state(player=(2, 2), blocks=blocks, enemies=[glitch(3, 2)]))
    assert mask[:4] == [True, False, False, True]


def test_M1_pickups_exits_transmissions_and_enemies_close_nothing(engine: Engine) -> None:
    mask = engine.mask(
        state(
            player=(4, 5),
            exit=(5, 5),
            transmissions=[coming("virus", 3, 5)],
            enemies=[glitch(4, 4)],
            resources=[{"row": 3, "col": 5, "dataSiphon": True}],
        )
    )
    assert mask[:4] == [True, True, True, False]


@pytest.mark.parametrize("held", [0, 1, 2, 9999])
def test_M2_siphon_needs_a_data_siphon_and_nothing_else(engine: Engine, held: int) -> None:
    bare = state(dataSiphons=held, siphoned=((2, 2), (3, 2), (1, 2), (2, 1), (2, 3)))
    assert engine.mask(bare)[SIPHON] is (held > 0)


def programs_valid(engine: Engine, **fields: Json) -> set[str]:
    """The names of the valid programs of a state."""
    mask = engine.mask(rich(**fields))
    return {name for name in NAMES if mask[ACTION[name]]}


def test_M3_the_order_is_that_of_table_P(engine: Engine) -> None:
    assert [ACTION[name] for name in NAMES] == list(range(rules.FIRST_PROGRAM, rules.NUM_ACTIONS))
    always = ["wait", "step", "siph+"]
    for name in always:
        assert programs_valid(engine, owned=name) == {name}


@pytest.mark.parametrize("name", NAMES)
def test_M3_valid_when_owned_paid_for_and_applicable(engine: Engine, name: str) -> None:
    cost = dict(zip(("credits", "energy"), COST[ACTION[name]], strict=True))
    enough = cost | APPLICABLE[name] | {"owned": name}
    assert programs_valid(engine, **enough) == {name}
    assert programs_valid(engine, **(enough | {"owned": ""})) == set()
    for resource, amount in cost.items():
        if amount:
            assert programs_valid(engine, **(enough | {resource: amount - 1})) == set(), resource


@pytest.mark.parametrize("name", NAMES)
def test_M3_owning_one_program_makes_no_other_valid(engine: Engine, name: str) -> None:
    others = " ".join(other for other in NAMES if other != name)
    assert name not in programs_valid(engine, **(APPLICABLE[name] | {"owned": others}))


@pytest.mark.parametrize(
    ("name", "fields"), [(name, fields) for name in NOT_APPLICABLE for fields in NOT_APPLICABLE[name]]
)
def test_M3_not_valid_when_not_applicable(engine: Engine, name: str, fields: dict[str, Any]) -> None:
    assert programs_valid(engine, owned=name, **fields) == set()


def test_M3_applicability_has_no_hidden_condition(engine: Engine) -> None:
    assert programs_valid(engine, owned="crash", transmissions=[coming("virus", 1, 1)]) == {"crash"}
    assert programs_valid(engine, owned="crash", enemies=[glitch(1, 2)]) == {"crash"}
    assert programs_valid(engine, owned="warp", transmissions=[coming("virus", 5, 5)]) == {"warp"}
    assert programs_valid(engine, owned="score", stage=7) == {"score"}
    assert programs_valid(engine, owned="atk+", attackDamage=2, atkPlusUses=1) == {"atk+"}
    assert programs_valid(engine, owned="step", stepActive=True) == {"step"}
    assert programs_valid(engine, owned="hack", blocks=[data(5, 5, siphoned=True)], exit=(0, 0)) == {"hack"}
    assert programs_valid(engine, owned="row", enemies=[glitch(2, 0)], blocks=[data(2, 1)]) == {"row"}

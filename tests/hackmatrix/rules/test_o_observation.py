"""Chapter O: the observation, 1545 exact float32."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix import jax_env, rules

from .builders import (
    DOWN,
    Json,
    coming,
    cryptog,
    daemon,
    data,
    enemy,
    glitch,
    only,
    pickup,
    program,
    question,
    state,
    virus,
)
from .crowds import random_state
from .engines import BATCH, Engine
from .reference.board import ACTION, ENEMIES, PROGRAM_TABLE, load
from .reference.observation import AFTER_PROGRAMS
from .reference.observation import observe as reference_observe

Values = NDArray[np.float32]
SPAWN, TURNS, CREDITS, ENERGY, PICKUP, EXIT, CENTRE = range(AFTER_PROGRAMS, AFTER_PROGRAMS + 7)
"""Channels of O3."""


def player_of(values: Values) -> Values:
    """The 10 player values."""
    return values[:10]


def cell_of(values: Values, row: int, col: int) -> Values:
    """The values of a cell."""
    cells: Values = values[rules.GRID_PART].reshape(rules.GRID_SHAPE)[row, col]
    return cells


def nonzero(cell: Values) -> dict[int, np.float32]:
    """Channel and value of everything that is not 0."""
    return {int(channel): cell[channel] for channel in np.flatnonzero(cell)}


def nearest(number: int, divisor: int) -> np.float32:
    """The float32 nearest to the exact quotient."""
    return np.float32(np.longdouble(number) / np.longdouble(divisor))


def seen(engine: Engine, row: int, col: int, **fields: Json) -> dict[int, np.float32]:
    """What a player in (2,2) sees of a cell."""
    return nonzero(cell_of(engine.observe(state(**fields)), row, col))


def test_O_shape_and_type(engine: Engine) -> None:
    values = engine.observe(state())
    assert values.shape == (rules.OBSERVATION_SIZE,)
    assert values.dtype == np.float32


@pytest.mark.parametrize("row", range(6))
@pytest.mark.parametrize("col", range(6))
def test_O1_place(engine: Engine, row: int, col: int) -> None:
    exit_place = (5, 5) if (row, col) != (5, 5) else (0, 0)
    values = engine.observe(state(player=(row, col), exit=exit_place))
    assert (values[0], values[1]) == (nearest(row, 5), nearest(col, 5))


@pytest.mark.parametrize("hp", range(4))
def test_O1_hp(engine: Engine, hp: int) -> None:
    assert engine.observe(state(hp=hp))[2] == nearest(hp, 3)


@pytest.mark.parametrize("amount", [*range(52), 9999])
def test_O1_credits_and_energy_exact_and_capped(engine: Engine, amount: int) -> None:
    values = engine.observe(state(credits=amount, energy=max(0, amount - 1)))
    assert (values[3], values[4]) == (nearest(min(amount, 50), 50), nearest(min(max(0, amount - 1), 50), 50))


@pytest.mark.parametrize("stage", range(1, 10))
def test_O1_stage(engine: Engine, stage: int) -> None:
    # Stage 9, a won game, is capped.
    assert engine.observe(state(stage=stage))[5] == nearest(min(stage - 1, 7), 7)


@pytest.mark.parametrize("held", [*range(12), 9999])
def test_O1_data_siphons(engine: Engine, held: int) -> None:
    assert engine.observe(state(dataSiphons=held))[6] == nearest(min(held, 10), 10)


def test_O1_attack_SHOW_and_CALM(engine: Engine) -> None:
    assert [float(engine.observe(state(attackDamage=attack))[7]) for attack in (1, 2, 3)] == [0, 0.5, 1]
    assert list(player_of(engine.observe(state(showActivated=True)))[8:]) == [1, 0]
    assert list(player_of(engine.observe(state(scheduledTasksDisabled=True)))[8:]) == [0, 1]


@pytest.mark.parametrize("name", [name for name, *_ in PROGRAM_TABLE])
def test_O2_owned_programs_in_table_order(engine: Engine, name: str) -> None:
    programs = engine.observe(state(owned=name))[rules.PROGRAM_PART]
    assert list(np.flatnonzero(programs)) == [ACTION[name] - 5]
    assert programs.sum() == 1


@pytest.mark.parametrize("kind", ENEMIES)
@pytest.mark.parametrize("hp", [1, 2])
def test_O3_enemies(engine: Engine, kind: str, hp: int) -> None:
    # In the player's column, so that a cryptog shows too.
    fields = {"stunned": True, "spawnedFromSiphon": True, "disabledTurns": 9, "isFromScheduledTask": True}
    assert seen(engine, 4, 2, enemies=[enemy(kind, 4, 2, hp=hp, **fields)]) == {
        ENEMIES.index(kind): 1,
        4: nearest(hp, 3),
        5: 1,
        6: 1,
    }
    assert seen(engine, 4, 2, enemies=[enemy(kind, 4, 2, hp=hp)]) == {ENEMIES.index(kind): 1, 4: nearest(hp, 3)}


def test_O3_a_whole_daemon(engine: Engine) -> None:
    assert seen(engine, 4, 4, enemies=[daemon(4, 4)]) == {1: 1, 4: 1}


@pytest.mark.parametrize("points", range(1, 10))
def test_O3_data_blocks(engine: Engine, points: int) -> None:
    block = data(4, 4, points=points, spawnCount=9 - points)
    expected = {7: np.float32(1), 10: nearest(points, 9), SPAWN: nearest(9 - points, 9)}
    assert seen(engine, 4, 4, blocks=[block]) == {key: value for key, value in expected.items() if value}


@pytest.mark.parametrize("name", [name for name, *_ in PROGRAM_TABLE])
def test_O3_program_blocks(engine: Engine, name: str) -> None:
    spawn = next(spawn for other, _, _, spawn in PROGRAM_TABLE if other == name)
    expected = {8: 1, 12 + ACTION[name] - 5: 1, SPAWN: nearest(spawn, 9)}
    assert seen(engine, 4, 4, blocks=[program(4, 4, name)]) == expected


def test_O3_siphoned_shows_on_blocks_only(engine: Engine) -> None:
    assert seen(engine, 4, 4, blocks=[data(4, 4, points=9, spawnCount=0, siphoned=True)]) == {7: 1, 10: 1, 11: 1}
    assert seen(engine, 4, 4, siphoned=((4, 4),)) == {}
    assert seen(engine, 4, 4, blocks=[question(4, 4, siphoned=True)]) == {9: 1, 11: 1}


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 4, 5, 255])
def test_O3_transmissions(engine: Engine, turns: int) -> None:
    cell = seen(engine, 4, 4, transmissions=[coming("daemon", 4, 4, turns=turns, spawnedFromSiphon=True)])
    assert cell == ({TURNS: nearest(min(turns, 4), 4)} if turns else {})


@pytest.mark.parametrize("amount", [1, 2, 3])
def test_O3_credits_and_energy(engine: Engine, amount: int) -> None:
    lying = {"row": 4, "col": 4, "credits": amount, "energy": 4 - amount}
    assert seen(engine, 4, 4, resources=[lying]) == {CREDITS: nearest(amount, 3), ENERGY: nearest(4 - amount, 3)}


def test_O3_pickup_exit_and_siphon_centre(engine: Engine) -> None:
    fields: dict[str, Any] = {"resources": [pickup(4, 4)], "exit": (5, 0), "centres": ((0, 3),)}
    assert seen(engine, 4, 4, **fields) == {PICKUP: 1}
    assert seen(engine, 5, 0, **fields) == {EXIT: 1}
    assert seen(engine, 0, 3, **fields) == {CENTRE: 1}
    assert seen(engine, 0, 3, centres=((0, 3),), blocks=[question(0, 3)]) == {9: 1, CENTRE: 1}


def test_O3_an_enemy_on_a_block_shows_both(engine: Engine) -> None:
    cell = seen(engine, 4, 4, blocks=[data(4, 4, points=9)], enemies=[glitch(4, 4)])
    assert cell == {2: 1, 4: nearest(2, 3), 7: 1, 10: 1, SPAWN: 1}


def test_O4_a_cryptog_shows_in_the_players_row_or_column(engine: Engine) -> None:
    shown = {3: 1, 4: nearest(2, 3)}
    assert seen(engine, 4, 4, enemies=[cryptog(4, 4)]) == {}
    assert seen(engine, 4, 2, enemies=[cryptog(4, 2)]) == shown
    assert seen(engine, 2, 5, enemies=[cryptog(2, 5)]) == shown
    # Blocks and others in between do not hide it.
    assert seen(engine, 2, 5, enemies=[cryptog(2, 5), virus(2, 3)], blocks=[data(2, 4)]) == shown


def test_O4_a_cryptog_shows_with_SHOW_on(engine: Engine) -> None:
    fields = {"stunned": True, "spawnedFromSiphon": True}
    hidden = [cryptog(4, 4, **fields)]
    assert seen(engine, 4, 4, enemies=hidden) == {}
    assert seen(engine, 4, 4, enemies=hidden, showActivated=True) == {3: 1, 4: nearest(2, 3), 5: 1, 6: 1}


def test_O4_a_hidden_cryptog_hides_nothing_else_of_its_cell(engine: Engine) -> None:
    cell = seen(engine, 4, 4, enemies=[cryptog(4, 4, lastKnownRow=0, lastKnownCol=0)], resources=[pickup(4, 4)])
    assert cell == {PICKUP: 1}
    assert seen(engine, 0, 0, enemies=[cryptog(4, 4, lastKnownRow=0, lastKnownCol=0)]) == {}


def test_O4_a_question_hides_its_content(engine: Engine) -> None:
    assert seen(engine, 4, 4, blocks=[question(4, 4, points=9)]) == {9: 1}
    assert seen(engine, 4, 4, blocks=[question(4, 4, program="atk+")]) == {9: 1}


def test_O4_resources_under_a_block_show_when_the_cell_is_siphoned(engine: Engine) -> None:
    lying: dict[str, Any] = {"resources": [{"row": 4, "col": 4, "credits": 3, "energy": 3}]}
    block = program(4, 4, "push", spawnCount=0)
    assert seen(engine, 4, 4, blocks=[block], **lying) == {8: 1, 12: 1}
    assert seen(engine, 4, 4, blocks=[block | {"siphoned": True}], **lying) == {
        8: 1,
        11: 1,
        12: 1,
        CREDITS: 1,
        ENERGY: 1,
    }


def test_O4_transmission_types_are_not_in_the_array(engine: Engine) -> None:
    for show in (False, True):
        several = [engine.observe(state(transmissions=[coming(kind, 4, 4)], showActivated=show)) for kind in ENEMIES]
        assert all((values == several[0]).all() for values in several)


def test_O_moving_the_player_moves_the_view(engine: Engine) -> None:
    before = state(player=(2, 2), enemies=[cryptog(1, 4, frozen=True)])
    after = engine.play(before, DOWN).state
    assert only(after["enemies"])["lastKnownRow"] == 1
    assert nonzero(cell_of(engine.observe(before), 1, 4)) == {}
    assert nonzero(cell_of(engine.observe(after), 1, 4)) == {3: 1, 4: nearest(2, 3)}


def test_O_matches_the_reference_on_random_states() -> None:
    states = [random_state(number) for number in range(256)]
    loaded = [jax_env.set_state(given) for given in states]
    for number, (given, (_, values)) in enumerate(zip(states, BATCH.look(loaded), strict=True)):
        np.testing.assert_array_equal(values, reference_observe(load(given)), err_msg=f"state {number}")


def test_O_expanding_the_compact_observation_gives_the_same_values() -> None:
    states = [jax_env.set_state(random_state(number)) for number in range(8)]
    for given, (_, values) in zip(states, BATCH.look(states), strict=True):
        np.testing.assert_array_equal(np.asarray(jax_env.expand(jax_env.compact(given))), values)

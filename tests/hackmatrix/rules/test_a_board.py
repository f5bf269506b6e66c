"""Chapter A: the board, what stands on it, and the ranges of its numbers."""

import pytest

from hackmatrix import rules

from .builders import (
    DOWN,
    LEFT,
    RIGHT,
    SIPHON,
    UP,
    WAIT,
    coming,
    cryptog,
    daemon,
    data,
    enemy,
    glitch,
    only,
    place_of,
    places,
    program,
    question,
    run,
    state,
    virus,
)
from .engines import Engine
from .reference.board import PROGRAM_TABLE

MOST = 9999


def test_A1_lists_are_in_row_major_order(engine: Engine) -> None:
    given = state(enemies=[daemon(5, 0), daemon(0, 5), daemon(0, 1), daemon(3, 3)])
    assert places(engine.complete(given)["enemies"]) == [(0, 1), (0, 5), (3, 3), (5, 0)]


@pytest.mark.parametrize("row", range(6))
@pytest.mark.parametrize("col", range(6))
def test_A1_the_observation_has_cell_6_row_plus_col(engine: Engine, row: int, col: int) -> None:
    player = (5, 0) if (row, col) != (5, 0) else (0, 5)
    seen = engine.observe(state(player=player, enemies=[daemon(row, col)], exit=(5, 5)))
    daemons = seen[rules.GRID_PART].reshape(rules.NUM_CELLS, -1)[:, 1]
    assert daemons.argmax() == 6 * row + col
    assert daemons.sum() == 1


@pytest.mark.parametrize(("action", "there"), [(UP, (3, 2)), (DOWN, (1, 2)), (LEFT, (2, 1)), (RIGHT, (2, 3))])
def test_A2_directions_in_order(engine: Engine, action: int, there: tuple[int, int]) -> None:
    assert place_of(engine.play(state(player=(2, 2)), action).state["player"]) == there


def test_A3_siphoned_is_a_flag_of_the_cell_block_or_not(engine: Engine) -> None:
    given = state(blocks=[data(1, 1, siphoned=True)], siphoned=((0, 0),))
    whole = engine.complete(given)
    assert places(whole["siphoned"]) == [(0, 0), (1, 1)]
    assert only(whole["blocks"])["siphoned"] is True
    assert engine.complete(state(blocks=[data(1, 1)], siphoned=((1, 1),)))["blocks"][0]["siphoned"] is True


def test_A4_spawn_of_a_data_block_is_its_points(engine: Engine) -> None:
    whole = engine.complete(state(blocks=[data(1, 1, points=7), question(1, 2, points=3)]))
    assert [block["spawnCount"] for block in whole["blocks"]] == [7, 3]


@pytest.mark.parametrize(("name", "spawn"), [(name, spawn) for name, _, _, spawn in PROGRAM_TABLE])
def test_A4_spawn_of_a_program_block_is_the_column_of_table_P(engine: Engine, name: str, spawn: int) -> None:
    whole = engine.complete(state(blocks=[program(1, 1, name), question(1, 2, program=name)]))
    assert [block["spawnCount"] for block in whole["blocks"]] == [spawn, spawn]


@pytest.mark.parametrize("siphoned", [False, True])
def test_A4_a_block_blocks_movement_siphoned_or_not(engine: Engine, siphoned: bool) -> None:
    around = [data(3, 2), data(1, 2), program(2, 1, "push"), question(2, 3)]
    for block in around:
        block["siphoned"] = siphoned
    assert engine.mask(state(player=(2, 2), blocks=around))[:4] == [False] * 4


@pytest.mark.parametrize(("kind", "cells"), [("virus", 2), ("daemon", 1), ("glitch", 1), ("cryptog", 1)])
def test_A5_speed_is_the_number_of_cells_an_enemy_walks(engine: Engine, kind: str, cells: int) -> None:
    after = engine.play(state(player=(0, 0), owned="wait", energy=1, enemies=[enemy(kind, 0, 5)]), WAIT)
    assert place_of(only(after.state["enemies"])) == (0, 5 - cells)


@pytest.mark.parametrize(
    ("kind", "there"), [("glitch", (1, 3)), ("daemon", (3, 3)), ("cryptog", (3, 3)), ("virus", (2, 3))]
)
def test_A5_only_a_glitch_enters_block_cells(engine: Engine, kind: str, there: tuple[int, int]) -> None:
    walled = state(
        player=(0, 3), owned="wait", energy=1, enemies=[enemy(kind, 2, 3)], blocks=[data(1, c) for c in range(6)]
    )
    # The others find no way: E8 sends them up, and the virus, faster, up and back.
    assert place_of(only(engine.play(walled, WAIT).state["enemies"])) == there


def test_A5_a_cryptogs_last_known_cell_is_its_own_unless_said(engine: Engine) -> None:
    whole = engine.complete(state(enemies=[cryptog(5, 0), cryptog(4, 4, lastKnownRow=1, lastKnownCol=3)]))
    known = [(entry["lastKnownRow"], entry["lastKnownCol"]) for entry in whole["enemies"]]
    assert known == [(1, 3), (5, 0)]


@pytest.mark.parametrize("turns", [1, 255])
def test_A6_one_hit_destroys_a_transmission(engine: Engine, turns: int) -> None:
    after = engine.play(state(player=(2, 2), transmissions=[coming("daemon", 5, 2, turns)]), UP)
    assert after.state["transmissions"] == after.state["enemies"] == []
    assert after.rewards["kills"] == 300
    assert place_of(after.state["player"]) == (2, 2)


def test_A7_an_empty_new_board_has_the_documented_defaults(engine: Engine) -> None:
    whole = engine.complete({"player": {"row": 2, "col": 2}})
    numbers = {"hp": 3, "credits": 0, "energy": 0, "dataSiphons": 0, "attackDamage": 1, "score": 0}
    assert whole.pop("player") == {"row": 2, "col": 2} | numbers
    assert whole == {
        "enemies": [],
        "transmissions": [],
        "blocks": [],
        "resources": [],
        "siphoned": [],
        "siphonCenters": [],
        "exit": {"row": 5, "col": 5},
        "ownedPrograms": [],
        "stage": 1,
        "turn": 0,
        "showActivated": False,
        "scheduledTasksDisabled": False,
        "stepActive": False,
        "atkPlusUses": 0,
        "scheduledTaskInterval": 12,
        "nextScheduledTaskTurn": 12,
        "pendingSiphonTransmissions": 0,
        "closestApproach": 6,
        "seed": 0,
        "eventNumber": 0,
        "history": None,
        "killsSinceHistory": 0,
        "pickupsSinceHistory": 0,
    }


def test_A7_credits_energy_and_score_saturate(engine: Engine) -> None:
    full = state(
        player=(2, 2),
        credits=MOST - 1,
        energy=MOST - 2,
        score=MOST - 3,
        dataSiphons=1,
        resources=[{"row": 2, "col": 2, "credits": 3}, {"row": 2, "col": 3, "energy": 3}],
        blocks=[data(3, 2, points=9)],
    )
    after = engine.play(full, SIPHON)
    player = after.state["player"]
    assert (player["credits"], player["energy"], player["score"]) == (MOST, MOST, MOST)
    assert after.rewards["score_gain"] == 500 * 3
    assert after.rewards["resource_gain"] == 50 * (1 + 2)


def test_A7_data_siphons_saturate(engine: Engine) -> None:
    by_program = engine.play(*run("siph+", dataSiphons=MOST))
    assert by_program.state["player"]["dataSiphons"] == MOST
    by_pickup = engine.play(state(dataSiphons=MOST, resources=[{"row": 3, "col": 2, "dataSiphon": True}]), UP)
    assert by_pickup.state["player"]["dataSiphons"] == MOST
    assert by_pickup.rewards["data_siphon"] == 1000


def test_A7_energy_of_EXCH_and_score_of_SCORE_saturate(engine: Engine) -> None:
    assert engine.play(*run("exch", energy=MOST)).state["player"]["energy"] == MOST
    assert engine.play(*run("score", score=MOST)).state["player"]["score"] == MOST


def test_A7_pending_spawns_saturate(engine: Engine) -> None:
    # The pending spawns are gone at the end of the turn, so STEP keeps them visible.
    start = state(dataSiphons=1, blocks=[data(3, 2, points=9)], pendingSiphonTransmissions=MOST - 4, stepActive=True)
    assert engine.play(start, SIPHON).state["pendingSiphonTransmissions"] == MOST


def test_A7_turns_remaining_saturate_at_255(engine: Engine) -> None:
    delayed = engine.play(
        *run("delay", transmissions=[coming("virus", 0, 0, turns=253), coming("virus", 0, 1, turns=250)])
    )
    assert [entry["turnsRemaining"] for entry in delayed.state["transmissions"]] == [255, 253]


def test_A7_disabled_holds_255_turns(engine: Engine) -> None:
    after = engine.play(state(player=(0, 0), enemies=[virus(5, 4, disabledTurns=255)]), UP)
    assert only(after.state["enemies"])["disabledTurns"] == 254


def test_A7_the_turn_number_wraps_at_32_bits(engine: Engine) -> None:
    start = state(turn=2**32 - 1, nextScheduledTaskTurn=2**32 - 1, enemies=[glitch(5, 5, frozen=True)], exit=(0, 0))
    after = engine.play(start, UP).state
    assert after["turn"] == 0
    assert after["nextScheduledTaskTurn"] == 2**32 - 1
    assert after["transmissions"] == []


def test_A7_the_next_scheduled_turn_wraps_at_32_bits(engine: Engine) -> None:
    start = state(turn=2**32 - 3, nextScheduledTaskTurn=5, scheduledTaskInterval=7)
    after = engine.play(start, UP).state
    assert after["turn"] == 2**32 - 2
    assert after["nextScheduledTaskTurn"] == 5
    assert len(after["transmissions"]) == 1
    siphoned = engine.play(state(dataSiphons=1, turn=9, nextScheduledTaskTurn=2**32 - 2, stepActive=True), SIPHON)
    assert siphoned.state["nextScheduledTaskTurn"] == 3

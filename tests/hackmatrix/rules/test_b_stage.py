"""Chapter B: start and stage generation."""

from collections.abc import Iterable
from functools import cache

import pytest

from . import randomness as site
from .blocks import CORNERS, EVERYWHERE, credits, data, pickup
from .builders import LEFT, UP, doorstep, state
from .engines import JAX, Engine, Entry, Place, StateDict, at, places
from .movers import CALLED, SCHEDULED, coming, daemon
from .randomness import word
from .tables import CORNERS as CORNER_CELLS
from .tables import is_valid_placement, path_lengths

SEEDS = range(1000, 1128)


def smallest(seed: int, event: int, at_site: int, cells: Iterable[int]) -> int:
    return min(cells, key=lambda cell: word(seed, event, at_site, cell))


@cache
def first_stages() -> list[StateDict]:
    return JAX.resets(SEEDS)


@pytest.mark.parametrize("seed", [0, 1, 5, 2**32, 2**64 - 1])
def test_B1_player_on_a_uniform_corner_with_one_bonus_in_stage_1_and_otherwise_zero(engine: Engine, seed: int) -> None:
    new = engine.reset(seed)
    assert (new["stage"], new["seed"], new["eventNumber"], new["history"]) == (1, seed, 0, None)
    assert new["ownedPrograms"] == new["enemies"] == []
    player = new["player"]
    corner = smallest(seed, 0, site.START, CORNER_CELLS)
    bonus = word(seed, 0, site.BONUS, 0) * 3 >> 32
    assert player == {
        "row": corner // 6,
        "col": corner % 6,
        "hp": 3,
        "attackDamage": 1,
        "score": 0,
        "credits": 10 if bonus == 0 else 0,
        "energy": 11 if bonus == 1 else 0,
        "dataSiphons": 1 if bonus == 2 else 0,
    }


def test_B2_clears_the_board_and_the_stages_own_facts(engine: Engine) -> None:
    old = doorstep(
        *(data(r, c, points=9, siphoned=True) for r, c in [(0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 2)]),
        *(credits(3, 3, 3) | {"energy": 3}, pickup(2, 2)),
        dataSiphons=1,
        siphoned=((1, 5), (2, 5)),
        centres=((1, 5),),
        stage=3,
        turn=77,
        showActivated=True,
        scheduledTasksDisabled=True,
        stepActive=True,
        atkPlusUses=2,
        scheduledTaskInterval=4,
        nextScheduledTaskTurn=99,
        pendingSiphonTransmissions=7,
        history=state(player=(3, 3)),
        killsSinceHistory=2,
        pickupsSinceHistory=1,
    )
    after = engine.play(old, UP)
    assert after["siphoned", "siphonCenters", "stage", "turn", "history"] == ([], [], 4, 0, None)
    assert not any(block["siphoned"] for block in after.state["blocks"])
    assert not any(all(both) for both in after["amounts"].values())
    assert after["scheduledTaskInterval", "nextScheduledTaskTurn"] == (9, 9)
    assert after["showActivated", "scheduledTasksDisabled", "stepActive"] == (False, False, False)
    counts = after["atkPlusUses", "killsSinceHistory", "pickupsSinceHistory", "pendingSiphonTransmissions"]
    assert counts == (0, 0, 0, 0)


def test_B2_keeps_player_attack_enemies_and_transmissions(engine: Engine) -> None:
    enemies = [daemon(0, 0), daemon(1, 1, hp=2, stunned=True, disabledTurns=3, **CALLED)]
    transmissions = [coming("glitch", 2, 3, turns=6, **SCHEDULED), coming("virus", 5, 0, turns=1)]
    start = engine.complete(doorstep(*enemies, *transmissions, attackDamage=3))
    after = engine.play(start, UP)
    assert after.state["enemies"] == start["enemies"]
    kept = [entry for entry in after.state["transmissions"] if entry in start["transmissions"]]
    assert kept == start["transmissions"]
    assert after["player", "attackDamage"] == ((5, 5), 3)


@pytest.mark.parametrize("seed", range(8))
def test_B3_exit_is_a_uniform_other_corner_and_the_rest_hold_pickups(engine: Engine, seed: int) -> None:
    # Enemies may stand on them.
    after = engine.play(
        doorstep(*(daemon(*place) for place in sorted(CORNERS - {(5, 5)})), seed=seed, eventNumber=40), UP
    )
    exit_place = divmod(smallest(seed, 41, site.EXIT, [0, 5, 30]), 6)
    assert after["exit"] == exit_place
    assert {*after["pickups"]} == CORNERS - {(5, 5), exit_place}
    assert after["enemies"] == [(0, 0), (0, 5), (5, 0)]


def full_house(*free: Place) -> list[Entry]:
    return [daemon(*place) for place in EVERYWHERE if place not in CORNERS | {*free}]


def test_B4_fewer_blocks_when_free_cells_run_out(engine: Engine) -> None:
    start = doorstep(*full_house((4, 5), (2, 2), (3, 3)))
    assert engine.play(start, UP)["blocks"] == [(2, 2), (3, 3), (4, 5)]


def test_B5_no_program_twice_in_a_stage_hidden_ones_included() -> None:
    with_hidden = 0
    for made in first_stages():
        blocks = made["blocks"]
        programs = [block["programActionIndex"] for block in blocks if "programActionIndex" in block]
        assert len(programs) == len(set(programs))
        with_hidden += any(block["type"] == "question" and "programActionIndex" in block for block in blocks)
    assert with_hidden > 25


@pytest.mark.parametrize(
    ("blocks", "exit_cell", "valid"),
    [
        ({7, 8, 9, 13, 14}, 35, True),
        ({3, 9, 15, 21, 27, 33}, 35, False),  # a wall parts the board
        ({29, 34}, 35, False),  # no way into the exit
        ({29}, 35, True),  # one way in is enough
        ({28, 29}, 35, True),
        ({28, 33}, 35, False),  # cell 34 is connected through the exit alone
        ({1, 6}, 35, False),  # corner 0 is cut off
        ({14, 8, 20, 13, 15}, 35, False),  # block 14 has only blocks around it
        ({34, 33, 28}, 35, True),  # block 34 has only the exit, which is entered from 29
    ],
)
def test_B6_what_makes_a_placement_valid(blocks: set[int], exit_cell: int, valid: bool) -> None:
    assert is_valid_placement(blocks, exit_cell) is valid


def test_B6_every_generated_placement_is_valid() -> None:
    for seed, made in zip(SEEDS, first_stages(), strict=True):
        blocks, (exit_cell,) = ({6 * r + c for r, c in places(of)} for of in (made["blocks"], [made["exit"]]))
        assert is_valid_placement(blocks, exit_cell), f"seed {seed}"


def test_B6_enemies_do_not_disconnect(engine: Engine) -> None:
    wall = [(2, c) for c in range(6)]
    after = engine.play(doorstep(*(daemon(*place) for place in wall)), UP)
    assert len(after["blocks"]) >= 5
    assert after["enemies"] == wall


def test_B6_after_100_invalid_attempts_there_are_no_blocks(engine: Engine) -> None:
    # The only free cells are the neighbours of corner 0 and the player's old cell: all three get a block,
    # and where corner 0 is the exit nothing leads into it, at every attempt.
    # Elsewhere corner 0 is cut off from the rest instead, which is as invalid.
    enemies = full_house((4, 5), (0, 1), (1, 0))
    made = [engine.play(doorstep(*enemies, seed=seed), UP)["exit", "blocks"] for seed in range(12)]
    assert {exit_place == (0, 0) for exit_place, _ in made} == {True, False}
    assert not any(blocks for _, blocks in made)


@pytest.mark.parametrize("seed", range(12))
def test_B7_amounts_on_every_cell_without_block_and_exit(engine: Engine, seed: int) -> None:
    new = engine.reset(seed)
    bare = {*EVERYWHERE} - {*places(new["blocks"])} - {*places([new["exit"]])}
    assert {*places(new["resources"])} == bare
    for entry in new["resources"]:
        cell = 6 * entry["row"] + entry["col"]
        value = ([1] * 9 + [2] * 9 + [3] * 2)[word(seed, 0, site.AMOUNT, cell) * 20 >> 32]
        is_credits = word(seed, 0, site.RESOURCE, cell) * 2 >> 32 == 0
        assert (entry["credits"], entry["energy"]) == ((value, 0) if is_credits else (0, value))


@pytest.mark.parametrize("stage", range(1, 8))
def test_B8_stage_s_brings_s_transmissions_and_by_B2_an_interval_of_13_minus_s(engine: Engine, stage: int) -> None:
    after = engine.play(doorstep(stage=stage, seed=9), UP).state
    assert after["scheduledTaskInterval"] == after["nextScheduledTaskTurn"] == 12 - stage
    assert len(after["transmissions"]) == stage + 1
    made = {"turnsRemaining": 1, "spawnedFromSiphon": False, "isFromScheduledTask": False}
    assert all(entry | made == entry for entry in after["transmissions"])


def test_B2_the_closest_approach_starts_at_the_distance(engine: Engine) -> None:
    for seed in range(6):
        after = engine.play(doorstep(seed=seed), UP).state
        player, exit_cell = (6 * row + col for row, col in places([after["player"], after["exit"]]))
        blocks = {6 * row + col for row, col in places(after["blocks"])}
        assert after["closestApproach"] == path_lengths(exit_cell, blocks)[player]
        assert engine.complete({**after, "closestApproach": 35})["closestApproach"] == 35


def test_B3_the_players_corner_holds_neither_exit_nor_pickup(engine: Engine) -> None:
    after = engine.play(state(player=(0, 1), exit=(0, 0)), LEFT)
    assert after["exit"] != (0, 0)
    assert (0, 0) not in after["pickups"]
    assert at(after.state["resources"], 0, 0)

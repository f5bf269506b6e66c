"""Chapter S: the siphon."""

import pytest

from .builders import (
    SIPHON,
    Json,
    at,
    coming,
    credits,
    daemon,
    data,
    energy,
    only,
    pickup,
    places,
    program,
    question,
    state,
)
from .engines import Engine, Outcome
from .reference.board import ACTION

CROSS = [(1, 2), (2, 1), (2, 2), (2, 3), (3, 2)]


def siphon(engine: Engine, **fields: Json) -> Outcome:
    """A siphon in (2,2), the enemy turn skipped so that the pending spawns can be seen."""
    return engine.play(state(**({"player": (2, 2), "dataSiphons": 1, "stepActive": True} | fields)), SIPHON)


def test_S1_the_cross_is_the_cell_and_its_four_neighbours(engine: Engine) -> None:
    everywhere = [credits(r, c, 1) for r in range(6) for c in range(6)]
    after = siphon(engine, resources=everywhere).state
    assert after["player"]["credits"] == 5
    assert set(places(after["resources"])) == set(places(everywhere)) - set(CROSS)
    assert places(after["siphoned"]) == CROSS


def test_S1_only_cells_on_the_board(engine: Engine) -> None:
    everywhere = [energy(r, c, 1) for r in range(6) for c in range(6)]
    after = siphon(engine, player=(0, 5), resources=everywhere).state
    assert after["player"]["energy"] == 3
    assert places(after["siphoned"]) == [(0, 4), (0, 5), (1, 5)]


def test_S1_siphoned_cells_are_skipped(engine: Engine) -> None:
    after = siphon(
        engine,
        siphoned=((2, 2), (3, 2)),
        resources=[credits(2, 2, 3)],
        blocks=[data(3, 2, points=9), program(1, 2, "push", siphoned=True, spawnCount=4)],
    ).state
    assert after["player"]["credits"] == 0
    assert after["player"]["score"] == 0
    assert after["ownedPrograms"] == []
    assert after["pendingSiphonTransmissions"] == 0
    assert [block["spawnCount"] for block in after["blocks"]] == [4, 9]
    assert places(after["siphonCenters"]) == [(2, 2)]
    assert only(after["resources"])["credits"] == 3


def test_S2_a_data_block_scores_its_points(engine: Engine) -> None:
    after = siphon(engine, blocks=[data(3, 2, points=7), data(2, 3, points=2, spawnCount=6)], score=1).state
    assert after["player"]["score"] == 1 + 7 + 2
    assert after["pendingSiphonTransmissions"] == 7 + 6
    assert [(block["points"], block["spawnCount"], block["siphoned"]) for block in after["blocks"]] == [
        (2, 0, True),
        (7, 0, True),
    ]


def test_S2_a_program_block_gives_its_program(engine: Engine) -> None:
    after = siphon(engine, blocks=[program(1, 2, "atk+")], pendingSiphonTransmissions=1).state
    assert after["ownedPrograms"] == [ACTION["atk+"]]
    assert after["pendingSiphonTransmissions"] == 1 + 8


def test_S2_a_program_that_is_owned_already_stays_owned_once(engine: Engine) -> None:
    after = siphon(engine, blocks=[program(1, 2, "push"), program(3, 2, "push")], owned="push").state
    assert after["ownedPrograms"] == [ACTION["push"]]
    assert after["pendingSiphonTransmissions"] == 8


def test_S2_a_question_is_revealed_with_the_same_effect(engine: Engine) -> None:
    after = siphon(engine, blocks=[question(3, 2, points=4), question(2, 1, program="warp")]).state
    assert after["player"]["score"] == 4
    assert after["ownedPrograms"] == [ACTION["warp"]]
    assert after["pendingSiphonTransmissions"] == 4 + 5
    revealed = {"spawnCount": 0, "siphoned": True}
    assert after["blocks"] == [
        {"row": 2, "col": 1, "type": "program", "programActionIndex": ACTION["warp"]} | revealed,
        {"row": 3, "col": 2, "type": "data", "points": 4} | revealed,
    ]


def test_S2_resources_under_a_block_stay(engine: Engine) -> None:
    under = [{"row": 3, "col": 2, "credits": 2, "energy": 1}]
    after = siphon(engine, blocks=[data(3, 2)], resources=under).state
    assert (after["player"]["credits"], after["player"]["energy"]) == (0, 0)
    assert only(after["resources"]) == under[0] | {"dataSiphon": False}


def test_S2_a_block_under_the_player_is_siphoned_like_any_other(engine: Engine) -> None:
    after = siphon(engine, blocks=[data(2, 2, points=6)], resources=[credits(2, 2, 3)]).state
    assert after["player"]["score"] == 6
    assert after["player"]["credits"] == 0


def test_S3_credits_and_energy_go_to_the_player(engine: Engine) -> None:
    after = siphon(engine, resources=[credits(2, 2, 3), energy(3, 2, 2), energy(2, 1, 1), credits(2, 4, 3)], credits=4)
    player = after.state["player"]
    assert (player["credits"], player["energy"]) == (4 + 3, 3)
    assert places(after.state["resources"]) == [(2, 4)]


def test_S3_a_pickup_stays(engine: Engine) -> None:
    both = [{"row": 3, "col": 2, "energy": 2, "dataSiphon": True}, pickup(2, 2)]
    after = siphon(engine, resources=both).state
    assert after["player"]["energy"] == 2
    assert after["player"]["dataSiphons"] == 0
    assert [(entry["energy"], entry["dataSiphon"]) for entry in after["resources"]] == [(0, True), (0, True)]


def test_S3_what_stands_in_the_cross_is_untouched(engine: Engine) -> None:
    mover = {"enemies": [daemon(3, 2)], "transmissions": [coming("virus", 1, 2, turns=3)]}
    after = siphon(engine, resources=[credits(3, 2, 1), credits(1, 2, 1)], **mover).state
    assert after["player"]["credits"] == 2
    assert only(after["enemies"])["hp"] == 3
    assert only(after["transmissions"])["turnsRemaining"] == 3


def test_S4_flags(engine: Engine) -> None:
    after = siphon(engine, siphoned=((0, 0),), centres=((0, 0),)).state
    assert places(after["siphoned"]) == sorted([(0, 0), *CROSS])
    assert places(after["siphonCenters"]) == [(0, 0), (2, 2)]


def test_S5_costs_one_siphon_and_delays_the_schedule(engine: Engine) -> None:
    after = siphon(engine, dataSiphons=3, scheduledTaskInterval=9, nextScheduledTaskTurn=14).state
    assert after["player"]["dataSiphons"] == 2
    assert (after["scheduledTaskInterval"], after["nextScheduledTaskTurn"]) == (8, 19)


@pytest.mark.parametrize(("interval", "then"), [(6, 5), (5, 4), (4, 4), (3, 4), (0, 4), (2**32 - 1, 2**32 - 2)])
def test_S5_the_interval_does_not_fall_below_4(engine: Engine, interval: int, then: int) -> None:
    assert siphon(engine, scheduledTaskInterval=interval).state["scheduledTaskInterval"] == then


def test_S_the_pending_spawns_come_with_the_enemy_turn(engine: Engine) -> None:
    after = siphon(engine, stepActive=False, blocks=[data(3, 2, points=3)]).state
    assert after["pendingSiphonTransmissions"] == 0
    assert len(after["transmissions"]) == 3
    assert all(entry["spawnedFromSiphon"] for entry in after["transmissions"])
    assert at(after["blocks"], 3, 2)["spawnCount"] == 0

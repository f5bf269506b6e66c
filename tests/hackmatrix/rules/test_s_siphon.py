"""Chapter S: the siphon."""

import pytest

from .blocks import EVERYWHERE, credits, data, energy, pickup, program, question
from .builders import SIPHON, state
from .engines import Engine, Entry, Json, Outcome
from .movers import CALLED, coming, daemon
from .tables import ACTION

CROSS = [(1, 2), (2, 1), (2, 2), (2, 3), (3, 2)]
PENDING = "pendingSiphonTransmissions"


def siphon(engine: Engine, *entries: Entry, **fields: Json) -> Outcome:
    """A siphon in (2,2), the enemy turn skipped so that the pending spawns can be seen."""
    return engine.play(state(*entries, **({"dataSiphons": 1, "stepActive": True} | fields)), SIPHON)


def test_S1_the_cross_is_the_cell_and_its_neighbours_on_the_board(engine: Engine) -> None:
    after = siphon(engine, *(credits(*place, 1) for place in EVERYWHERE))
    assert after["credits", "siphoned"] == (5, CROSS)
    assert after["resources"] == [place for place in EVERYWHERE if place not in CROSS]
    after = siphon(engine, *(energy(*place, 1) for place in EVERYWHERE), player=(0, 5))
    assert after["energy", "siphoned"] == (3, [(0, 4), (0, 5), (1, 5)])


def test_S1_siphoned_cells_are_skipped(engine: Engine) -> None:
    blocks = [data(3, 2, points=9), program(1, 2, "push", siphoned=True, spawnCount=4)]
    after = siphon(engine, *blocks, credits(2, 2, 3), siphoned=((2, 2), (3, 2)))
    assert after["credits", "score", "owned", PENDING] == (0, 0, "", 0)
    assert after["spawns", "amounts"] == ({(1, 2): 4, (3, 2): 9}, {(2, 2): (3, 0)})
    assert after["siphonCenters"] == [(2, 2)]


def test_S2_a_data_block_scores_its_points(engine: Engine) -> None:
    after = siphon(engine, data(3, 2, points=7), data(2, 3, points=2, spawnCount=6), score=1)
    assert after["score", PENDING] == (1 + 7 + 2, 7 + 6)
    told = [(block["points"], block["spawnCount"], block["siphoned"]) for block in after.state["blocks"]]
    assert told == [(2, 0, True), (7, 0, True)]


def test_S2_a_program_block_gives_its_program_once(engine: Engine) -> None:
    after = siphon(engine, program(1, 2, "atk+"), pendingSiphonTransmissions=1)
    assert after["owned", PENDING] == ("atk+", 1 + 8)
    after = siphon(engine, program(1, 2, "push"), program(3, 2, "push"), owned="push")
    assert after["owned", PENDING] == ("push", 8)


def test_S2_a_question_is_revealed_with_the_same_effect(engine: Engine) -> None:
    after = siphon(engine, question(3, 2, points=4), question(2, 1, program="warp"))
    assert after["score", "owned", PENDING] == (4, "warp", 4 + 5)
    revealed = {"spawnCount": 0, "siphoned": True}
    assert after.state["blocks"] == [
        {"row": 2, "col": 1, "type": "program", "programActionIndex": ACTION["warp"]} | revealed,
        {"row": 3, "col": 2, "type": "data", "points": 4} | revealed,
    ]


def test_S2_resources_under_a_block_stay_also_under_the_player(engine: Engine) -> None:
    after = siphon(engine, data(3, 2), credits(3, 2, 2) | {"energy": 1})
    assert after["credits", "energy", "amounts"] == (0, 0, {(3, 2): (2, 1)})
    after = siphon(engine, data(2, 2, points=6), credits(2, 2, 3))
    assert after["score", "credits"] == (6, 0)


def test_S3_credits_and_energy_go_to_the_player_and_a_pickup_stays(engine: Engine) -> None:
    after = siphon(engine, credits(2, 2, 3), energy(3, 2, 2), energy(2, 1, 1), credits(2, 4, 3), credits=4)
    assert after["credits", "energy", "resources"] == (4 + 3, 3, [(2, 4)])
    after = siphon(engine, pickup(3, 2) | {"energy": 2}, pickup(2, 2))
    assert after["energy", "dataSiphons", "pickups", "amounts"] == (2, 0, [(2, 2), (3, 2)], {})


def test_S3_what_stands_in_the_cross_is_untouched(engine: Engine) -> None:
    after = siphon(engine, credits(3, 2, 1), credits(1, 2, 1), daemon(3, 2), coming("virus", 1, 2, turns=3))
    assert after["credits", "hps", "coming"] == (2, {(3, 2): 3}, {(1, 2): 3})


def test_S4_flags(engine: Engine) -> None:
    after = siphon(engine, siphoned=((0, 0),), centres=((0, 0),))
    assert after["siphoned", "siphonCenters"] == ([(0, 0), *CROSS], [(0, 0), (2, 2)])


def test_S5_costs_one_siphon_and_delays_the_schedule(engine: Engine) -> None:
    after = siphon(engine, dataSiphons=3, scheduledTaskInterval=9, nextScheduledTaskTurn=14)
    assert after["dataSiphons", "scheduledTaskInterval", "nextScheduledTaskTurn"] == (2, 8, 19)


@pytest.mark.parametrize(("interval", "then"), [(6, 5), (5, 4), (4, 4), (3, 4), (0, 4), (2**32 - 1, 2**32 - 2)])
def test_S5_the_interval_does_not_fall_below_4(engine: Engine, interval: int, then: int) -> None:
    assert siphon(engine, scheduledTaskInterval=interval)["scheduledTaskInterval"] == then


def test_S_the_pending_spawns_come_with_the_enemy_turn(engine: Engine) -> None:
    after = siphon(engine, data(3, 2, points=3), stepActive=False)
    assert after[PENDING, "spawns"] == (0, {(3, 2): 0})
    assert [entry | CALLED == entry for entry in after.state["transmissions"]] == [True] * 3

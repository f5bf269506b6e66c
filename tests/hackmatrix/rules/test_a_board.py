"""Chapter A: the board, what stands on it, and the ranges of its numbers."""

import pytest

from hackmatrix import rules

from .blocks import EVERYWHERE, credits, data, energy, pickup, program, question
from .builders import DOWN, LEFT, RIGHT, SIPHON, UP, WAIT, run, state
from .engines import PRICE, Case, Engine, Json, Place, case, cases, only, paid, places
from .movers import coming, cryptog, daemon, enemy, glitch, virus
from .tables import ENEMIES, PROGRAM_TABLE

MOST, WORD = 9999, 2**32


@pytest.mark.parametrize("place", EVERYWHERE)
def test_A1_the_observation_has_cell_6_row_plus_col(engine: Engine, place: Place) -> None:
    seen = engine.observe(state(daemon(*place), player=(5, 0) if place != (5, 0) else (0, 5)))
    daemons = seen[rules.GRID_PART].reshape(rules.NUM_CELLS, -1)[:, 1]
    assert daemons.nonzero()[0].tolist() == [6 * place[0] + place[1]]
    assert daemons.sum() == 1


@pytest.mark.parametrize(("action", "there"), [(UP, (3, 2)), (DOWN, (1, 2)), (LEFT, (2, 1)), (RIGHT, (2, 3))])
def test_A2_directions_in_order(engine: Engine, action: int, there: Place) -> None:
    assert engine.play(state(), action)["player"] == there


def test_A3_siphoned_is_a_flag_of_the_cell_block_or_not(engine: Engine) -> None:
    whole = engine.complete(state(data(1, 1, siphoned=True), siphoned=((0, 0),)))
    assert places(whole["siphoned"]) == [(0, 0), (1, 1)]
    assert only(whole["blocks"])["siphoned"] is True
    assert engine.complete(state(data(1, 1), siphoned=((1, 1),)))["blocks"][0]["siphoned"] is True


def test_A4_spawn_of_a_data_block_is_its_points(engine: Engine) -> None:
    whole = engine.complete(state(data(1, 1, points=7), question(1, 2, points=3)))
    assert [block["spawnCount"] for block in whole["blocks"]] == [7, 3]


@pytest.mark.parametrize(("name", "spawn"), [(name, spawn) for name, _, _, spawn in PROGRAM_TABLE])
def test_A4_spawn_of_a_program_block_is_the_column_of_table_P(engine: Engine, name: str, spawn: int) -> None:
    whole = engine.complete(state(program(1, 1, name), question(1, 2, program=name)))
    assert [block["spawnCount"] for block in whole["blocks"]] == [spawn, spawn]


@pytest.mark.parametrize("siphoned", [False, True])
def test_A4_a_block_blocks_movement_siphoned_or_not(engine: Engine, siphoned: bool) -> None:
    around = [data(3, 2), data(1, 2), program(2, 1, "push"), question(2, 3)]
    assert engine.mask(state(*(block | {"siphoned": siphoned} for block in around)))[:4] == [False] * 4


WAITING = {"player": (0, 0), "owned": "wait", "energy": 1}
SPEED = {"virus": 2, "daemon": 1, "glitch": 1, "cryptog": 1}
# Only a glitch enters block cells. The others find no way: E8 sends them up, and the virus, faster, up and back.
STOPPED = {"virus": (2, 3), "daemon": (3, 3), "glitch": (1, 3), "cryptog": (3, 3)}


@pytest.mark.parametrize("kind", ENEMIES)
def test_A5_how_far_an_enemy_walks_and_whether_onto_blocks(engine: Engine, kind: str) -> None:
    assert engine.play(state(enemy(kind, 0, 5), **WAITING), WAIT)["enemies"] == [(0, 5 - SPEED[kind])]
    walled = state(enemy(kind, 2, 3), *(data(1, c) for c in range(6)), **(WAITING | {"player": (0, 3)}))
    assert engine.play(walled, WAIT)["enemies"] == [STOPPED[kind]]


def test_A5_a_cryptogs_last_known_cell_is_its_own_unless_said(engine: Engine) -> None:
    whole = engine.complete(state(cryptog(5, 0), cryptog(4, 4, lastKnownRow=1, lastKnownCol=3)))
    assert [(entry["lastKnownRow"], entry["lastKnownCol"]) for entry in whole["enemies"]] == [(1, 3), (5, 0)]


@pytest.mark.parametrize("turns", [1, 255])
def test_A6_one_hit_destroys_a_transmission(engine: Engine, turns: int) -> None:
    after = engine.play(state(coming("daemon", 5, 2, turns)), UP)
    assert after["transmissions", "enemies", "kills", "player"] == ([], [], PRICE["kills"], (2, 2))


def test_A7_an_empty_new_board_has_the_documented_defaults(engine: Engine) -> None:
    whole = engine.complete({"player": {"row": 2, "col": 2}})
    numbers = {"hp": 3, "credits": 0, "energy": 0, "dataSiphons": 0, "attackDamage": 1, "score": 0}
    assert whole.pop("player") == {"row": 2, "col": 2} | numbers
    lists = ("enemies", "transmissions", "blocks", "resources", "siphoned", "siphonCenters", "ownedPrograms")
    zeros = ("turn", "atkPlusUses", "pendingSiphonTransmissions", "seed", "eventNumber")
    counts = ("killsSinceHistory", "pickupsSinceHistory")
    assert whole == {
        **{name: [] for name in lists},
        **dict.fromkeys((*zeros, *counts), 0),
        **dict.fromkeys(("showActivated", "scheduledTasksDisabled", "stepActive"), False),
        "exit": {"row": 5, "col": 5},
        "stage": 1,
        "scheduledTaskInterval": 12,
        "nextScheduledTaskTurn": 12,
        "closestApproach": 6,
        "history": None,
    }


FULL = state(
    *(data(3, 2, points=9), credits(2, 2, 3), energy(2, 3, 3)),
    credits=MOST - 1,
    energy=MOST - 2,
    score=MOST - 3,
    dataSiphons=1,
)
DELAYED = run("delay", coming("virus", 0, 0, turns=253), coming("virus", 0, 1, turns=250))
LAST_TURN = state(glitch(5, 5, frozen=True), turn=WORD - 1, nextScheduledTaskTurn=WORD - 1, exit=(0, 0))
LATE = state(turn=WORD - 3, nextScheduledTaskTurn=6, scheduledTaskInterval=7)


def pending(number: int) -> dict[str, Json]:
    return {"pendingSiphonTransmissions": number}


def test_A7_disabled_holds_255_turns(engine: Engine) -> None:
    after = engine.play(state(virus(5, 4, disabledTurns=255), player=(0, 0)), UP)
    assert only(after.state["enemies"])["disabledTurns"] == 254


@cases(
    case("A7: credits, energy and score", FULL, SIPHON, credits=MOST, energy=MOST, score=MOST),
    case("A7: and their rewards", FULL, SIPHON, **paid(score_gain=3, resource_gain=1 + 2)),
    case("A7: data siphons, by SIPH+", *run("siph+", dataSiphons=MOST), dataSiphons=MOST),
    case("A7: by a pickup", state(pickup(3, 2), dataSiphons=MOST), UP, dataSiphons=MOST, **paid(data_siphon=1)),
    case("A7: energy of EXCH", *run("exch", energy=MOST), energy=MOST),
    case("A7: score of SCORE", *run("score", score=MOST), score=MOST),
    # The pending spawns are gone at the end of the turn, so STEP keeps them visible.
    case(
        "A7: pending spawns",
        state(data(3, 2, points=9), dataSiphons=1, stepActive=True, **pending(MOST - 4)),
        SIPHON,
        **pending(MOST),
    ),
    case("A7: turns remaining, at 255", *DELAYED, coming={(0, 0): 255, (0, 1): 253}),
    case("A7: the turn", LAST_TURN, UP, turn=0, nextScheduledTaskTurn=WORD - 1, transmissions=[]),
    case("A7: the next scheduled turn", LATE, UP, turn=WORD - 2, nextScheduledTaskTurn=5),
    case(
        "A7: and after a siphon",
        state(dataSiphons=1, turn=9, nextScheduledTaskTurn=WORD - 2, stepActive=True),
        SIPHON,
        nextScheduledTaskTurn=3,
    ),
)
def test_A7_ranges(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected

"""Chapter E: the enemy turn, in the order in which it happens."""

from typing import Any

import pytest

from . import randomness as site
from .blocks import data, walls
from .builders import RIGHT, UP, WAIT, state
from .engines import Case, Engine, Entry, Json, Outcome, Place, StateDict, at, case, cases, only, paid
from .movers import CALLED, SCHEDULED, coming, cryptog, daemon, enemy, glitch, virus
from .randomness import word
from .tables import ENEMIES, MAX_HP

NEVER = 1000
HIDDEN = [6 * row + col for row in range(1, 6) for col in range(1, 6)]
"""The cells out of the line of fire of a player in (0,0) on an empty board."""


def waiting(*entries: Entry, **fields: Json) -> StateDict:
    """A player in (0,0) who can wait for the enemies; nothing is scheduled."""
    return state(
        *entries, **({"player": (0, 0), "owned": "wait", "energy": 1, "nextScheduledTaskTurn": NEVER} | fields)
    )


def wait(engine: Engine, *entries: Entry, **fields: Json) -> Outcome:
    """The outcome of an enemy turn around a player that stays where it is; event 1."""
    return engine.play(waiting(*entries, **fields), WAIT)


def turn(what: str, start: StateDict, **expected: Json) -> Json:
    return case(what, start, WAIT, **expected)


def moves(what: str, then: list[Place], *entries: Entry, **fields: Json) -> Json:
    return turn(what, waiting(*entries, **fields), enemies=then)


def moved_to(engine: Engine, *entries: Entry, **fields: Json) -> list[Place]:
    found: list[Place] = wait(engine, *entries, **fields)["enemies"]
    return found


def assert_drawn(engine: Engine, cell: int, choices: list[Place], *entries: Entry, **fields: Json) -> None:
    """Whoever moves from a cell takes the choice that its STEP word of round 0 picks, each of them with some seed."""
    drawn = {word(seed, 1, site.STEP, cell) * len(choices) >> 32: seed for seed in range(99)}
    assert len(drawn) == len(choices)
    for choice, seed in drawn.items():
        assert choices[choice] in moved_to(engine, *entries, seed=seed, **fields)


def test_E1_with_STEP_on_nothing_happens_but_STEP_going_off(engine: Engine) -> None:
    start = waiting(
        *(virus(2, 3, stunned=True, disabledTurns=2), daemon(5, 5), coming("virus", 0, 0, turns=1)),
        player=(2, 2),
        stepActive=True,
        turn=4,
        nextScheduledTaskTurn=0,
        pendingSiphonTransmissions=3,
        exit=(0, 5),
    )
    before, after = engine.complete(start), engine.play(start, WAIT).state
    untouched = ("enemies", "transmissions", "turn", "nextScheduledTaskTurn", "pendingSiphonTransmissions")
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    assert (after["stepActive"], after["player"]["hp"]) == (False, 3)


@pytest.mark.parametrize("kind", ENEMIES)
def test_E3_a_transmission_at_0_becomes_its_enemy(engine: Engine, kind: str) -> None:
    origin = SCHEDULED | CALLED
    after = wait(engine, coming(kind, 3, 4, turns=1, **origin), coming(kind, 5, 1, turns=2))
    seen = {"lastKnownRow": 3, "lastKnownCol": 4} if kind == "cryptog" else {}
    # Disabled 1 as it arrived, so it neither moved nor attacked, and E12 has counted that turn down.
    arrived = {"row": 3, "col": 4, "type": kind, "hp": MAX_HP[kind], "stunned": False, "disabledTurns": 0}
    assert after.state["enemies"] == [arrived | origin | seen]
    assert after["coming"] == {(5, 1): 1}


NEXT_TO_IT = waiting(coming("virus", 0, 1, turns=1), energy=2)
UNDER = {"row": 3, "col": 4, "credits": 2, "energy": 0, "dataSiphon": True}


@pytest.mark.parametrize("seed", range(8))
def test_E4_enemies_act_in_ascending_word_order(engine: Engine, seed: int) -> None:
    # A corridor with one free cell, (0,2), between two daemons' ways: who acts first takes it.
    corridor = walls((0, 0), (0, 1), (0, 2), (0, 3), (1, 2))
    after = wait(engine, *corridor, daemon(0, 3), daemon(1, 2, hp=1), seed=seed, exit=(0, 0))
    side_first = word(seed, 1, site.ORDER, 8) < word(seed, 1, site.ORDER, 3)
    assert after["hps"][0, 2] == (1 if side_first else 3)


@pytest.mark.parametrize("seed", range(8))
def test_E4_the_second_round_has_a_fresh_order(engine: Engine, seed: int) -> None:
    # Two viruses reach (0,3) and (1,2) in round 0 and compete for (0,2) in round 1.
    corridor = walls((0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 2))
    after = wait(engine, *corridor, virus(0, 4), virus(2, 2, hp=1), seed=seed, exit=(0, 0))
    # In round 1 the words are those of the cells in which they stand by then.
    side_first = word(seed, 1, site.ORDER, 36 + 8) < word(seed, 1, site.ORDER, 36 + 3)
    assert after["hps"][0, 2] == (1 if side_first else 2)


def test_E5_hp_does_not_fall_below_0_and_the_turn_runs_to_its_end(engine: Engine) -> None:
    after = wait(
        engine,
        *(daemon(3, 2), daemon(1, 2), daemon(2, 3), daemon(5, 5, stunned=True), virus(0, 5, disabledTurns=4)),
        coming("virus", 0, 0, turns=1),
        player=(2, 2),
        hp=1,
        nextScheduledTaskTurn=1,
        scheduledTaskInterval=6,
        pendingSiphonTransmissions=2,
        exit=(5, 0),
    )
    assert after["flags", "hp", "turn", "nextScheduledTaskTurn"] == ("terminated death", 0, 1, 7)
    assert (after["kinds"][0, 0], after["stunned"]) == ("virus", [])
    assert at(after.state["enemies"], 0, 5)["disabledTurns"] == 3
    assert sorted(entry["isFromScheduledTask"] for entry in after.state["transmissions"]) == [False, False, True]


WALL = [data(1, col) for col in range(5)]


@pytest.mark.parametrize(
    ("choices", "mover", "fields"),
    [
        # Every first step of every shortest path, in direction order.
        ([(1, 2), (2, 1)], daemon(2, 2), {}),
        ([(2, 1), (3, 0)], daemon(3, 1), {}),
        # Behind the block in (2,3) the ways up and down are equally long; left is closed, right is longer.
        ([(3, 4), (1, 4)], daemon(2, 4), {"player": (2, 2), "blocks": [data(2, 3)], "exit": (0, 0)}),
        # A cryptog from whose cell both lead into the player's row or column, and one with two that do not.
        ([(0, 1), (1, 0)], cryptog(1, 1), {}),
        ([(2, 3), (3, 2)], cryptog(3, 3), {}),
        # A glitch without a block to go to, and one with two.
        ([(2, 3), (3, 2)], glitch(3, 3), {}),
        ([(2, 3), (3, 2)], glitch(3, 3), {"blocks": [data(2, 3), data(3, 2)]}),
    ],
)
def test_E6_of_equal_candidates_one_is_drawn(
    engine: Engine, choices: list[Place], mover: Entry, fields: dict[str, Any]
) -> None:
    assert_drawn(engine, 6 * mover["row"] + mover["col"], choices, mover, **fields)


def test_E6_the_word_is_that_of_the_round_and_of_the_cell_it_moves_from(engine: Engine) -> None:
    # A virus in (3,3) moves twice: the second choice is drawn at 36 + its cell by then.
    for seed in range(12):
        row, col = [(2, 3), (3, 2)][word(seed, 1, site.STEP, 21) * 2 >> 32]
        second = [(row - 1, col), (row, col - 1)][word(seed, 1, site.STEP, 36 + 6 * row + col) * 2 >> 32]
        assert moved_to(engine, virus(3, 3), seed=seed) == [second]


@pytest.mark.parametrize("seed", range(4))
def test_E6_cryptogs_prefer_hidden_cells_and_glitches_blocks(engine: Engine, seed: int) -> None:
    # From (3,1), down leads to (2,1), hidden, and left to (3,0), in the player's column.
    assert moved_to(engine, cryptog(3, 1), seed=seed) == [(2, 1)]
    assert moved_to(engine, glitch(3, 3), data(3, 2), seed=seed) == [(3, 2)]
    assert moved_to(engine, glitch(3, 3), data(2, 3), seed=seed) == [(2, 3)]


PLUGS = [daemon(0, 1, frozen=True), daemon(1, 0, frozen=True)]


def test_E7_without_a_path_as_if_no_cell_were_occupied(engine: Engine) -> None:
    # A frozen enemy plugs the corridor; the one behind it still comes closer.
    corridor = walls(*((0, col) for col in range(6)))
    assert moved_to(engine, PLUGS[0], daemon(0, 5), *corridor, exit=(0, 0)) == [(0, 1), (0, 4)]


def test_E7_draws_and_prefers_as_E6_does_and_drops_occupied_candidates(engine: Engine) -> None:
    assert_drawn(engine, 14, [(1, 2), (2, 1)], daemon(2, 2), *PLUGS)
    for seed in range(4):
        assert (2, 1) in moved_to(engine, daemon(2, 2), *PLUGS, daemon(1, 2, frozen=True), seed=seed)
        assert (2, 1) in moved_to(engine, cryptog(3, 1), *PLUGS, seed=seed)
        assert (3, 2) in moved_to(engine, glitch(3, 3), *PLUGS, data(3, 2), seed=seed)


SHUT = [data(0, 1), data(1, 0)]
"""The player's corner is walled off for good."""
TWO = [daemon(0, 2, frozen=True), daemon(1, 3, frozen=True)]
PLUGGED = [data(0, 2), data(0, 4), data(1, 3)]
CAGE = [data(2, 3), data(4, 3), data(3, 2), data(3, 4)]


@pytest.mark.parametrize(
    ("row", "col", "others", "is_seen"),
    [
        (1, 1, [], True),  # it must enter the player's row or column
        (4, 4, [], False),  # it stays hidden
        (0, 1, [], False),  # it attacks and does not move
        (0, 3, PLUGGED, False),  # in view, but it cannot move
        (0, 3, SHUT, True),  # also after a move by E8
    ],
)
def test_E9_a_cryptog_that_comes_into_view_is_seen(
    engine: Engine, row: int, col: int, others: list[Entry], is_seen: bool
) -> None:
    moved = only(wait(engine, *others, cryptog(row, col, lastKnownRow=5, lastKnownCol=5)).state["enemies"])
    place = moved["row"], moved["col"]
    assert (place == (row, col)) is (others is PLUGGED or (row, col) == (0, 1))
    assert (moved["lastKnownRow"], moved["lastKnownCol"]) == (place if is_seen else (5, 5))


@pytest.mark.parametrize(("turn", "spawned"), [(6, 0), (7, 1), (8, 1)])
def test_E10_when_the_turn_reaches_the_scheduled_one(engine: Engine, turn: int, spawned: int) -> None:
    after = wait(engine, turn=turn, nextScheduledTaskTurn=8, scheduledTaskInterval=5)
    assert len(after["transmissions"]) == spawned
    assert after["nextScheduledTaskTurn"] == (turn + 1 + 5 if spawned else 8)


FULL = waiting(*walls((0, 0)), exit=(0, 0), nextScheduledTaskTurn=1, scheduledTaskInterval=9)
# The daemon leaves (0,2), which is then the only empty cell.
LEAVING = waiting(*walls((0, 0), (0, 1), (0, 2)), daemon(0, 2), exit=(0, 0), nextScheduledTaskTurn=1)
CALM = waiting(nextScheduledTaskTurn=1, scheduledTasksDisabled=True)


@pytest.mark.parametrize("seed", range(4))
def test_E11_pending_siphon_spawns_come_after_the_scheduled_one_and_while_CALM_is_on(engine: Engine, seed: int) -> None:
    calm = wait(engine, scheduledTasksDisabled=True, pendingSiphonTransmissions=3)
    assert (len(calm["transmissions"]), calm["pendingSiphonTransmissions"]) == (3, 0)
    after = wait(engine, seed=seed, nextScheduledTaskTurn=1, pendingSiphonTransmissions=2)
    expected = {min(HIDDEN, key=lambda cell: word(seed, 1, site.SCHEDULE_CELL, cell)): (False, True)}
    for j in range(2):
        free = {*HIDDEN} - {*expected}
        expected[min(free, key=lambda cell: word(seed, 1, site.SIPHON_CELL, 36 * j + cell))] = (True, False)
    made = {
        6 * entry["row"] + entry["col"]: (entry["spawnedFromSiphon"], entry["isFromScheduledTask"])
        for entry in after.state["transmissions"]
    }
    assert made == expected
    assert after["pendingSiphonTransmissions"] == 0
    assert {*after["coming"].values()} == {1}


def test_E12_disabled_counts_down_and_stun_ends(engine: Engine) -> None:
    after = wait(engine, daemon(5, 5, disabledTurns=3, stunned=True), daemon(5, 3, stunned=True), exit=(5, 0))
    assert [(entry["disabledTurns"], entry["stunned"]) for entry in after.state["enemies"]] == [(0, False), (2, False)]


def test_E_the_turn_of_a_move_is_played_around_the_new_cell(engine: Engine) -> None:
    after = engine.play(state(daemon(4, 2, hp=1), nextScheduledTaskTurn=NEVER), RIGHT)
    assert after["player"] == (2, 3)
    assert after["enemies"] in ([(3, 2)], [(4, 3)])
    assert engine.play(state(daemon(3, 2), player=(2, 1), nextScheduledTaskTurn=NEVER), UP)["hp"] == 2


@cases(
    turn("E2: turn plus 1", waiting(turn=41), turn=42),
    turn("E3: next to the player", NEXT_TO_IT, hp=3, enemies=[(0, 1)]),
    case("E3: but then it attacks", NEXT_TO_IT, WAIT, WAIT, hp=2),
    turn("E3: with 0 turns too", waiting(coming("glitch", 3, 4, turns=0)), kinds={(3, 4): "glitch"}),
    turn(
        "E3: what lies under it stays",
        waiting(coming("virus", 3, 4, turns=1), UNDER, siphoned=((3, 4),)),
        amounts={(3, 4): (2, 0)},
        pickups=[(3, 4)],
        siphoned=[(3, 4)],
    ),
    moves("E4: without a virus one round", [(0, 2), (0, 4)], daemon(0, 5), glitch(0, 3)),
    moves("E4: in the second only viruses", [(0, 4), (3, 0)], daemon(0, 5), virus(5, 0)),
    moves("E4: a disabled virus makes two", [(0, 3), (5, 5)], virus(5, 5, frozen=True), virus(0, 5), exit=(5, 0)),
    moves("E4: disabled or stunned", [(0, 5), (5, 0)], daemon(0, 5, disabledTurns=1), daemon(5, 0, stunned=True)),
    turn("E4: beside the player", waiting(daemon(0, 1, disabledTurns=1), virus(1, 0, stunned=True)), hp=3),
    turn("E4: who has attacked skips the second round", waiting(virus(0, 1)), hp=2),
    turn("E4: a walk, then an attack", waiting(virus(0, 2)), hp=2, enemies=[(0, 1)]),
    *(
        turn(kind, waiting(enemy(kind, 3, 2), player=(2, 2)), hp=2, enemies=[(3, 2)], **paid(damage_penalty=1))
        for kind in ENEMIES
    ),
    turn("E5: not a diagonal neighbour", waiting(daemon(3, 3), player=(2, 2)), hp=3, damage_penalty=0),
    turn("E5: from a block, on a block", waiting(glitch(3, 2), data(2, 2), data(3, 2), player=(2, 2)), hp=2),
    # The only way from (2,0) to (0,0) is around the wall in row 1.
    moves("E6: one cell along the shortest path", [(2, 1)], daemon(2, 0), *WALL),
    moves("E6: a glitch ignores blocks", [(1, 0)], glitch(2, 0), *WALL),
    moves("E6: enemies are obstacles", [(0, 2), (1, 3)], daemon(0, 3), daemon(0, 2, frozen=True)),
    moves("E6: transmissions too", [(1, 3)], daemon(0, 3), coming("virus", 0, 2)),
    moves("E6: the player's cell ends the path even as a block", [(0, 2)], daemon(0, 3), data(0, 0)),
    moves("E8: the nearest open neighbour", [(0, 2)], daemon(0, 3), *SHUT),
    moves("E8: ties in direction order: down before left", [(2, 3)], daemon(3, 3), *SHUT),
    moves("E8: away where nothing else is open", [(0, 4)], daemon(0, 3), *SHUT, data(0, 2), data(1, 3)),
    # (0,1) is the only way in, and it is plugged right in front of the enemy in (0,2).
    moves("E8: all candidates of E7 occupied", [(0, 1), (1, 2)], PLUGS[0], daemon(0, 2), data(1, 0), data(1, 1)),
    moves("E8: no occupied cell", [(0, 2), (0, 4), (1, 3)], *TWO, daemon(0, 3), *SHUT),
    moves("E8: nor a transmission's", [(0, 2), (0, 3), (1, 3)], *TWO, daemon(0, 3), *SHUT, coming("virus", 0, 4)),
    moves("E8: without an open neighbour it stays", [(3, 3)], daemon(3, 3), *CAGE),
    turn("E10: not while CALM is on", CALM, transmissions=[], nextScheduledTaskTurn=1),
    turn("E10: the schedule goes on without a cell", FULL, transmissions=[], nextScheduledTaskTurn=10),
    turn("E10: late, unsigned", waiting(turn=2**31, nextScheduledTaskTurn=5), nextScheduledTaskTurn=2**31 + 13),
    turn("E10: early, unsigned", waiting(turn=5, nextScheduledTaskTurn=2**31 + 1), transmissions=[]),
    turn("E10: after the movement", LEAVING, enemies=[(0, 1)], transmissions=[(0, 2)]),
)
def test_E_turns(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected

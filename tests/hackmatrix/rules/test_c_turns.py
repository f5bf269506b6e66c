"""Chapter C: turns, stage completion, the end of an episode, and spawning."""

from typing import Any

import pytest

from hackmatrix import rules

from . import randomness as site
from .blocks import EVERYWHERE, data, pickup, walls
from .builders import APPLICABLE, DOWN, LEFT, RIGHT, SIPHON, UP, WAIT, doorstep, run, state
from .engines import PRICE, Case, Engine, Entry, Json, Place, StateDict, case, cases, paid
from .movers import coming, daemon, glitch, virus
from .randomness import word
from .tables import ENEMIES, OWN_KEYS, REWARD_NAMES

ENDLESS = 1000  # a scheduled turn that never comes


OUTSIDE = [-1, rules.NUM_ACTIONS, rules.NUM_ACTIONS + 1, 255, -(2**31), 2**31 - 1]


@pytest.mark.parametrize("action", [SIPHON, RIGHT, *range(rules.FIRST_PROGRAM, rules.NUM_ACTIONS), *OUTSIDE])
def test_C1_an_invalid_action_changes_nothing_and_terminates(engine: Engine, action: int) -> None:
    if action in OUTSIDE and engine.name == "swift":
        pytest.skip("The protocol refuses such a number: test_an_action_outside_the_range_is_refused.")
    start = engine.complete(state(daemon(4, 4), player=(2, 5), pendingSiphonTransmissions=3, seed=8))
    after = engine.play(start, action)
    assert (after.state, after.components) == (start, dict.fromkeys(REWARD_NAMES, 0))
    assert after["flags"] == "terminated invalid_action"


def test_C1_after_an_invalid_action_a_caller_may_go_on(engine: Engine) -> None:
    start = state(daemon(5, 4), seed=3)
    assert engine.play(start, SIPHON, UP) == engine.play(start, UP)


@cases(
    case("move", state(turn=6), UP, turn=7, eventNumber=1),
    case("attack", state(daemon(5, 2, frozen=True), turn=6), UP, turn=7, eventNumber=1),
    case("siphon", state(dataSiphons=1, turn=6), SIPHON, turn=7, eventNumber=1),
    case("wait", state(owned="wait", energy=1, turn=6), WAIT, turn=7, eventNumber=1),
)
def test_C2_moves_attacks_siphon_and_WAIT_end_the_turn(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected
    assert engine.play(case.start, *case.actions)["history"] is not None


@pytest.mark.parametrize("name", [name for name in APPLICABLE if name != "wait"])
def test_C2_every_other_program_leaves_the_turn_with_the_player(engine: Engine, name: str) -> None:
    # The enemies and transmissions of an enemy turn would move, arrive and count.
    watch = {"transmissions": [coming("virus", 0, 0, turns=1)]} if name != "delay" else {}
    kept = {"turn": 6, "pendingSiphonTransmissions": 2}
    start, action = run(name, **(APPLICABLE[name] | watch), **kept)
    if name == "undo":
        start["history"] |= watch | kept
    after = engine.play(start, action)
    assert after["turn", "pendingSiphonTransmissions", "eventNumber"] == (6, 2, 1)
    if name not in ("delay", "warp"):
        assert after["coming"] == {(0, 0): 1}


EDGED = doorstep(virus(5, 4), coming("daemon", 0, 2, turns=1), hp=2)
WARPED = run("warp", daemon(5, 5), stage=4, hp=1, exit=(5, 5))
PAST = run("warp", daemon(5, 5), stage=8, history=state(player=(1, 1), stage=8), killsSinceHistory=2)
CARRIED = {"score": 17, "credits": 21, "energy": 9, "dataSiphons": 4, "attackDamage": 2}


@cases(
    *(
        case(f"from hp {hp}", doorstep(hp=hp, stage=2), UP, flags="stage_complete", stage=3, hp=then, turn=0)
        for hp, then in ((1, 2), (2, 3), (3, 3))
    ),
    case("WARP", *WARPED, flags="stage_complete", stage=5, player=(5, 5), hp=2, enemies=[]),
    case("and its rewards", *WARPED, **paid(kills=1), stage_completion=PRICE["stage_completion_4"]),
    case("no attack into the exit", doorstep(daemon(5, 5, frozen=True)), UP, flags="", player=(4, 5)),
    case("no standing on the exit", *run("step", player=(5, 5)), flags="", stage=1),
    case("no attack from it", state(daemon(5, 3, frozen=True), player=(5, 5)), LEFT, flags="", stage=1),
    case("a win by WARP", *PAST, flags="terminated stage_complete victory", killsSinceHistory=3),
    case("C5: what carries over", doorstep(**CARRIED, owned="push siph+ hack"), UP, owned="push siph+ hack", **CARRIED),
)
def test_C3_C5_what_completes_a_stage_and_what_follows(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected


def test_C3_no_enemy_turn_follows(engine: Engine) -> None:
    after = engine.play(EDGED, UP)
    assert after["hp", "enemies"] == (3, [(5, 4)])
    assert after["coming"][0, 2] == 1


def test_C3_after_stage_8_the_game_is_won_and_the_board_stays(engine: Engine) -> None:
    start = engine.complete(
        doorstep(
            *(data(1, 1), virus(5, 4, stunned=True), coming("glitch", 0, 0, turns=1), pickup(0, 5)),
            stage=8,
            hp=2,
            siphoned=((1, 1), (0, 3)),
            showActivated=True,
            stepActive=True,
            turn=9,
            killsSinceHistory=3,
            history=state(player=(0, 2), stage=8),
        )
    )
    after = engine.play(start, UP)
    assert after["flags"] == "terminated stage_complete victory"
    assert after.state == start | {
        "stage": 9,
        "eventNumber": 1,
        "player": start["player"] | {"row": 5, "hp": 3},
        # The winning move records first, and starts the counts.
        "history": {key: value for key, value in start.items() if key not in ("history", *OWN_KEYS)},
        "killsSinceHistory": 0,
    }


def test_C3_a_win_by_WARP_keeps_the_history(engine: Engine) -> None:
    record = engine.play(*PAST)["history"]
    assert (record["player"]["row"], record["player"]["col"]) == (1, 1)


def test_C4_at_hp_0_the_episode_ends_and_nothing_is_valid(engine: Engine) -> None:
    dying = engine.play(state(daemon(0, 1), player=(0, 0), hp=1, owned="wait", energy=1), WAIT)
    assert dying["flags"] == "terminated death"
    assert engine.mask(dying.state) == [False] * rules.NUM_ACTIONS
    again = engine.play(dying.state, UP)
    assert (again.state, again["flags"]) == (dying.state, "terminated invalid_action")


def test_C4_at_stage_9_nothing_is_valid(engine: Engine) -> None:
    won = state(stage=9, scheduledTaskInterval=4, dataSiphons=3)
    assert engine.mask(won) == [False] * rules.NUM_ACTIONS
    assert engine.play(won, UP)["flags"] == "terminated invalid_action"


def test_C4_the_engine_never_truncates(engine: Engine) -> None:
    assert not engine.play(state(scheduledTasksDisabled=True), *([UP, DOWN] * 50)).terminated


# C6, by way of the pending siphon spawns (E11)

FIRE = {(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)}
"""The cells in the line of fire of a player in (0,0)."""
INNER = [data(row, col) for row in range(1, 6) for col in range(1, 6)]
"""Blocks on all other cells but the player's."""


def waiting(*entries: Entry, pending: int = 1, **fields: Json) -> StateDict:
    """A state whose next turn spawns ``pending`` transmissions around a player that stays in (0,0)."""
    still = {"player": (0, 0), "owned": "wait", "energy": 1, "nextScheduledTaskTurn": ENDLESS}
    return state(*entries, pendingSiphonTransmissions=pending, **(still | fields))


def drawn(seed: int, cells: Any, j: int = 0) -> tuple[Place, str]:  # noqa: ANN401 - places
    """The cell and the type of the ``j``-th transmission of event 1, if these cells are the candidates."""
    cell = min(cells, key=lambda place: word(seed, 1, site.SIPHON_CELL, 36 * j + 6 * place[0] + place[1]))
    return cell, ENEMIES[word(seed, 1, site.SIPHON_TYPE, j) * 4 >> 32]


def spawned(engine: Engine, start: StateDict) -> dict[Place, str]:
    """Cells and types of the transmissions from a siphon that come in the next turn."""
    made = [entry for entry in engine.play(start, WAIT).state["transmissions"] if entry["spawnedFromSiphon"]]
    return {(entry["row"], entry["col"]): entry["enemyType"] for entry in made}


@pytest.mark.parametrize("seed", range(6))
def test_C6_a_uniform_empty_cell_out_of_the_line_of_fire(engine: Engine, seed: int) -> None:
    taken = [data(0, 3), data(4, 4), glitch(2, 0, frozen=True), daemon(3, 3, frozen=True)]
    closed = {(0, 1), (0, 2), (1, 0), (0, 0), (0, 3), (4, 4), (2, 0), (3, 3)}
    assert spawned(engine, waiting(*taken, seed=seed)) == dict([drawn(seed, {*EVERYWHERE} - closed)])


@pytest.mark.parametrize("seed", range(8))
def test_C6_cells_behind_a_transmission_are_still_in_the_line_of_fire(engine: Engine, seed: int) -> None:
    # (5,0) hides behind an enemy, (0,5) behind a transmission.
    start = waiting(*INNER, daemon(4, 0, frozen=True), coming("virus", 0, 4), seed=seed, exit=(0, 5))
    assert list(spawned(engine, start)) == [(5, 0)]


@pytest.mark.parametrize("seed", range(8))
def test_C6_without_a_hidden_cell_any_empty_one(engine: Engine, seed: int) -> None:
    assert spawned(engine, waiting(*INNER, seed=seed, exit=(0, 5))) == dict([drawn(seed, FIRE)])


def test_C6_each_is_placed_before_the_next_is_drawn(engine: Engine) -> None:
    taken: dict[Place, str] = {}
    for j in range(7):
        cell, kind = drawn(77, {*EVERYWHERE} - FIRE - {(0, 0)} - {*taken}, j)
        taken[cell] = kind
    assert spawned(engine, waiting(pending=7, seed=77)) == taken


def test_C6_without_an_empty_cell_it_is_dropped_for_good(engine: Engine) -> None:
    after = engine.play(waiting(*walls((0, 0), (0, 1), (5, 5)), pending=50), WAIT)
    assert after["transmissions", "pendingSiphonTransmissions"] == ([(0, 1), (5, 5)], 0)


def test_C6_as_many_as_fit_are_spawned(engine: Engine) -> None:
    after = engine.play(waiting(pending=9999, seed=5), WAIT)
    assert (len(after["transmissions"]), after["pendingSiphonTransmissions"]) == (35, 0)

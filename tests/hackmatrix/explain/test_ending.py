"""Who killed the player, and how else a game ends, told from the states around its last step."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hackmatrix.explain.ending import INVALID, LEFT, STEP_LIMIT, UNDONE, WON, Attacker, attackers, ending
from hackmatrix.explain.transition import Transition, around, place_of
from hackmatrix.world import WORLD
from parity import BatchEngine, State
from tests.hackmatrix.rules.builders import LEFT as GO_LEFT
from tests.hackmatrix.rules.builders import RIGHT, SIPHON, UP, WAIT, coming, cryptog, daemon, data, glitch, state, virus
from tests.hackmatrix.rules.reference.board import ACTION

from .conftest import Play
from .corpus import paid_steps

PLAYER = (2, 2)
ABOVE, BELOW, AT_LEFT, AT_RIGHT = (3, 2), (1, 2), (2, 1), (2, 3)


def waiting(**fields: Any) -> State:  # noqa: ANN401 - the fields of S
    """A player at hp 1 who can wait for the enemies."""
    return state(**({"player": PLAYER, "hp": 1, "owned": "wait", "energy": 1, "nextScheduledTaskTurn": 99} | fields))


def killers(step: Transition) -> list[tuple[str, tuple[int, int]]]:
    return [(attacker.type, attacker.place) for attacker in attackers(step)]


@pytest.mark.parametrize(
    ("enemies", "cause"),
    [
        ([daemon(*ABOVE)], "daemon"),
        ([glitch(*AT_LEFT)], "glitch"),
        ([cryptog(*BELOW)], "cryptog"),
        ([virus(*AT_RIGHT)], "virus"),
        ([virus(*AT_RIGHT), virus(*ABOVE)], "2 viruses"),
        ([glitch(*AT_RIGHT), glitch(*ABOVE)], "2 glitches"),
        ([daemon(*ABOVE), virus(*BELOW)], "virus and daemon"),
        ([cryptog(*ABOVE), glitch(*BELOW)], "glitch and cryptog"),
        ([cryptog(*ABOVE), glitch(*BELOW), virus(*AT_LEFT)], "3 enemies"),
        ([daemon(*ABOVE), daemon(*BELOW), daemon(*AT_LEFT), daemon(*AT_RIGHT)], "4 enemies"),
    ],
)
def test_E5_whoever_stands_beside_the_player_kills(play: Play, enemies: list[State], cause: str) -> None:
    step = play(waiting(enemies=enemies), WAIT).step
    assert step.died
    found = ending(step)
    assert (found.cause, found.place, found.stage) == (cause, PLAYER, 1)
    assert [attacker.place for attacker in found.attackers] == sorted(map(place_of, enemies))


KILLERS: dict[str, tuple[State, int, list[tuple[str, tuple[int, int]]]]] = {
    "E4 nobody who is stunned or disabled": (
        waiting(enemies=[virus(*ABOVE), daemon(*BELOW, stunned=True), daemon(*AT_LEFT, disabledTurns=2)]),
        WAIT,
        [("virus", ABOVE)],
    ),
    "V2 nobody who was struck and lives": (
        state(player=PLAYER, hp=1, enemies=[daemon(*ABOVE), glitch(*AT_LEFT)]),
        UP,
        [("glitch", AT_LEFT)],
    ),
    "E3 no transmission that arrives": (
        waiting(enemies=[virus(*ABOVE)], transmissions=[coming("virus", *BELOW, turns=1)]),
        WAIT,
        [("virus", ABOVE)],
    ),
    "A5 a virus that comes, and no daemon": (
        waiting(enemies=[virus(2, 4), daemon(4, 2)]),
        WAIT,
        [("virus", AT_RIGHT)],
    ),
    "E4 no virus that comes with its second move": (
        waiting(enemies=[virus(2, 5), daemon(*ABOVE)]),
        WAIT,
        [("daemon", ABOVE)],
    ),
    "C2 who stands where the player moved to": (
        state(player=PLAYER, hp=1, enemies=[daemon(1, 1), daemon(*ABOVE)]),
        GO_LEFT,
        [("daemon", (1, 1))],
    ),
    "C2 who stands beside a siphon": (
        state(player=PLAYER, hp=1, dataSiphons=1, enemies=[glitch(*ABOVE)]),
        SIPHON,
        [("glitch", ABOVE)],
    ),
    "E1 nobody while STEP is active": (waiting(enemies=[daemon(*ABOVE)], stepActive=True), WAIT, []),
    "C2 nobody after a program": (
        state(player=PLAYER, owned="exch", credits=9, enemies=[daemon(*ABOVE)]),
        ACTION["exch"],
        [],
    ),
    "C3 nobody where a stage is completed": (state(player=(0, 4), exit=(0, 5), enemies=[daemon(1, 5)]), RIGHT, []),
}


@pytest.mark.parametrize("who", KILLERS)
def test_E5_who_attacks(play: Play, who: str) -> None:
    start, action, expected = KILLERS[who]
    step = play(start, action).step
    assert killers(step) == expected
    assert step.died is bool(expected)


def test_the_origins_of_the_killers_are_told(play: Play) -> None:
    called = virus(*ABOVE, spawnedFromSiphon=True)
    due = daemon(*BELOW, isFromScheduledTask=True)
    found = ending(play(waiting(enemies=[called, due]), WAIT).step)
    assert found.attackers == (Attacker("daemon", BELOW, False, True), Attacker("virus", ABOVE, True, False))
    assert found.from_siphon
    assert not ending(play(waiting(enemies=[due]), WAIT).step).from_siphon


def test_C3_a_game_won_ends_in_stage_8_on_the_exit(play: Play) -> None:
    found = ending(play(state(player=(0, 4), exit=(0, 5), stage=8, enemies=[daemon(1, 5)]), RIGHT).step)
    assert (found.stage, found.cause, found.place, found.attackers) == (8, WON, (0, 5), ())


def test_C1_an_invalid_action_ends_a_game(play: Play) -> None:
    assert ending(play(state(player=PLAYER, blocks=[data(*ABOVE)]), UP).step).cause == INVALID


def test_an_end_that_no_rule_makes_is_called_as_the_caller_says(play: Play) -> None:
    step = play(state(player=PLAYER), UP).step
    assert (ending(step).cause, ending(step, STEP_LIMIT).cause) == (LEFT, STEP_LIMIT)


def test_P_UNDO_may_bring_a_dead_record_back(play: Play, swift: BatchEngine) -> None:
    dead = state(player=PLAYER, hp=0)
    step = play(state(player=PLAYER, owned="undo", credits=1, history=dead), ACTION["undo"]).step
    assert step.died
    assert ending(step).cause == UNDONE


def lasts_of_random_games(count: int) -> Iterator[Transition]:
    """The last steps of games of random valid actions, from their beginnings, in which the player died."""
    engine = WORLD.engines["swift"](count)
    every, rng = np.arange(count), np.random.default_rng(5)
    engine.reset(every.astype(np.uint64), every)
    playing, before = every, engine.get_state(every)
    while len(playing):
        mask = engine.mask()
        actions = (mask * rng.random(mask.shape)).argmax(axis=1).astype(np.int32)
        goes_on = ~engine.step(actions).terminated[playing]
        after = engine.get_state(playing)
        for old, new, action in zip(before, after, actions[playing].tolist(), strict=True):
            if new["player"]["hp"] == 0:
                yield Transition(old, new, action)
        playing, before = playing[goes_on], [state for state, stays in zip(after, goes_on, strict=True) if stays]
    engine.close()


def test_every_death_has_killers_beside_the_player_who_took_all_that_was_left(swift_built: None) -> None:
    died = 0
    for last in lasts_of_random_games(64):
        found = ending(last)
        places = [attacker.place for attacker in found.attackers]
        assert places
        assert set(places) <= set(around(found.place))
        assert len(set(places)) == len(places) >= last.before["player"]["hp"]
        standing = {place_of(enemy): enemy["type"] for enemy in last.after["enemies"]}
        assert all(standing[attacker.place] == attacker.type for attacker in found.attackers)
        died += 1
    assert died > 48


def test_E5_as_many_attack_as_hp_are_lost(swift_built: None) -> None:
    """Only a virus that was blocked at first cannot be told from one that came at once, which is rare."""
    engine = WORLD.engines["swift"](64)
    exact = more = 0
    for paid in paid_steps(engine, steps=30, seed=3):
        step = paid.step
        if step.undone or step.completed or not step.valid or step.died:
            continue
        lost = step.before["player"]["hp"] - step.after["player"]["hp"]
        if step.action == ACTION["reset"]:
            continue
        found = len(attackers(step))
        assert found >= lost
        exact, more = exact + (found == lost > 0), more + (found > lost)
    engine.close()
    assert exact > 100
    assert more <= exact / 100

"""Ends of games, explained from the states around the last step: the attackers of a player who died, and the rest."""

import pytest

from hackmatrix.cells import place_of
from hackmatrix.explain.transition import StateTransition, attackers, ending
from rlparity import State
from tests.hackmatrix.rules.builders import LEFT as GO_LEFT
from tests.hackmatrix.rules.builders import RIGHT, SIPHON, UP, WAIT, state
from tests.hackmatrix.rules.engines import Entry, Json
from tests.hackmatrix.rules.movers import CALLED, SCHEDULED, coming, cryptog, daemon, glitch, virus
from tests.hackmatrix.rules.tables import ACTION

from .conftest import Paid, Play

PLAYER = (2, 2)
ABOVE, BELOW, AT_LEFT, AT_RIGHT = (3, 2), (1, 2), (2, 1), (2, 3)


def waiting(*entries: Entry, **fields: Json) -> State:
    return state(*entries, **({"hp": 1, "owned": "wait", "energy": 1, "nextScheduledTaskTurn": 99} | fields))


def killers(step: StateTransition) -> list[tuple[str, tuple[int, int]]]:
    return [(attacker["type"], place_of(attacker)) for attacker in attackers(step)]


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
    step = play(waiting(*enemies), WAIT).step
    assert step.died
    found = ending(step)
    assert (found.cause, found.place, found.stage) == (cause, PLAYER, 1)
    assert [place_of(attacker) for attacker in found.attackers] == sorted(map(place_of, enemies))


STUNNED, DISABLED = daemon(*BELOW, stunned=True), daemon(*AT_LEFT, disabledTurns=2)
ARRIVING = coming("virus", *BELOW, turns=1)

KILLERS: dict[str, tuple[State, int, list[tuple[str, tuple[int, int]]]]] = {
    "E4 nobody stunned or disabled": (waiting(virus(*ABOVE), STUNNED, DISABLED), WAIT, [("virus", ABOVE)]),
    "V2 nobody struck": (state(daemon(*ABOVE), glitch(*AT_LEFT), hp=1), UP, [("glitch", AT_LEFT)]),
    "E3 no transmission that arrives": (waiting(virus(*ABOVE), ARRIVING), WAIT, [("virus", ABOVE)]),
    "A5 a virus that comes, and no daemon": (waiting(virus(2, 4), daemon(4, 2)), WAIT, [("virus", AT_RIGHT)]),
    "E4 no virus with its second move": (waiting(virus(2, 5), daemon(*ABOVE)), WAIT, [("daemon", ABOVE)]),
    "C2 where the player moved to": (state(daemon(1, 1), daemon(*ABOVE), hp=1), GO_LEFT, [("daemon", (1, 1))]),
    "C2 beside a siphon": (state(glitch(*ABOVE), hp=1, dataSiphons=1), SIPHON, [("glitch", ABOVE)]),
    "E1 nobody while STEP is active": (waiting(daemon(*ABOVE), stepActive=True), WAIT, []),
    "C2 nobody after a program": (state(daemon(*ABOVE), owned="exch", credits=9), ACTION["exch"], []),
    "C3 nobody where a stage is completed": (state(daemon(1, 5), player=(0, 4), exit=(0, 5)), RIGHT, []),
}


@pytest.mark.parametrize("who", KILLERS)
def test_E5_who_attacks(play: Play, who: str) -> None:
    start, action, expected = KILLERS[who]
    step = play(start, action).step
    assert killers(step) == expected
    assert step.died is bool(expected)


def test_the_origins_of_the_killers_are_told(play: Play) -> None:
    called, due = virus(*ABOVE, **CALLED), daemon(*BELOW, **SCHEDULED)
    found = ending(play(waiting(called, due), WAIT).step)
    told = [(one["type"], one["spawnedFromSiphon"], one["isFromScheduledTask"]) for one in found.attackers]
    assert told == [("daemon", False, True), ("virus", True, False)]
    assert found.from_siphon
    assert not ending(play(waiting(due), WAIT).step).from_siphon


def test_E5_as_many_attack_as_hp_are_lost(paid_steps: list[Paid]) -> None:
    """Only a virus that was blocked at first cannot be told from one that came at once, which is rare."""
    exact = more = 0
    for step, _ in paid_steps:
        if step.undone or step.completed or not step.valid or step.died or step.action == ACTION["reset"]:
            continue
        lost = step.before["player"]["hp"] - step.after["player"]["hp"]
        found = len(attackers(step))
        assert found >= lost
        exact, more = exact + (found == lost > 0), more + (found > lost)
    assert exact > 100
    assert more <= exact / 100

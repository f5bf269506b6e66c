"""Chapter O: the observation, 1545 exact float32."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix import rules

from .blocks import EVERYWHERE, credits, data, pickup, program, question
from .builders import DOWN, state
from .engines import Engine, Entry, Json, Place, StateDict, only
from .movers import CALLED, SCHEDULED, coming, cryptog, daemon, enemy, glitch, virus
from .tables import ACTION, ENEMIES, PROGRAM_TABLE

Values = NDArray[np.float32]
SPAWN, TURNS, CREDITS, ENERGY, PICKUP, EXIT, CENTRE = range(12 + len(PROGRAM_TABLE), 19 + len(PROGRAM_TABLE))
"""Channels of O3."""


def seen_at(values: Values, row: int, col: int) -> dict[int, np.float32]:
    """Channel and value of everything in a cell that is not 0."""
    cell = values[rules.GRID_PART].reshape(rules.GRID_SHAPE)[row, col]
    return {int(channel): cell[channel] for channel in np.flatnonzero(cell)}


def nearest(number: int, divisor: int) -> np.float32:
    """The float32 nearest to the exact quotient, capped at 1."""
    return np.float32(np.longdouble(min(number, divisor)) / np.longdouble(divisor))


def seen(engine: Engine, *entries: Entry, at: Place = (4, 4), **fields: Json) -> dict[int, np.float32]:
    return seen_at(engine.observe(state(*entries, **fields)), *at)


@pytest.mark.parametrize("place", EVERYWHERE)
def test_O1_place(engine: Engine, place: Place) -> None:
    values = engine.observe(state(player=place, exit=(5, 5) if place != (5, 5) else (0, 0)))
    assert (values[0], values[1]) == (nearest(place[0], 5), nearest(place[1], 5))


@pytest.mark.parametrize(
    ("index", "field", "numbers", "least", "divisor"),
    [
        (2, "hp", range(4), 0, 3),
        (3, "credits", [*range(52), 9999], 0, 50),
        (4, "energy", [*range(52), 9999], 0, 50),
        (5, "stage", range(1, 10), 1, 7),  # stage 9, a won game, is capped
        (6, "dataSiphons", [*range(12), 9999], 0, 10),
        (7, "attackDamage", range(1, 4), 1, 2),
        (8, "showActivated", [False, True], 0, 1),
        (9, "scheduledTasksDisabled", [False, True], 0, 1),
    ],
)
def test_O1_numbers_are_exact_and_capped(
    engine: Engine, index: int, field: str, numbers: Iterable[int], least: int, divisor: int
) -> None:
    found = [engine.observe(state(**{field: number}))[index] for number in numbers]
    assert found == [nearest(number - least, divisor) for number in numbers]


@pytest.mark.parametrize("name", [name for name, *_ in PROGRAM_TABLE])
def test_O2_owned_programs_in_table_order(engine: Engine, name: str) -> None:
    programs = engine.observe(state(owned=name))[rules.PROGRAM_PART]
    assert np.flatnonzero(programs).tolist() == [ACTION[name] - 5]
    assert programs.sum() == 1


@pytest.mark.parametrize("kind", ENEMIES)
@pytest.mark.parametrize("hp", [1, 2])
def test_O3_enemies(engine: Engine, kind: str, hp: int) -> None:
    # In the player's column, so that a cryptog shows too.
    plain = {ENEMIES.index(kind): 1, 4: nearest(hp, 3)}
    marked = enemy(kind, 4, 2, hp=hp, stunned=True, disabledTurns=9, **CALLED, **SCHEDULED)
    assert seen(engine, marked, at=(4, 2)) == plain | {5: 1, 6: 1}
    assert seen(engine, enemy(kind, 4, 2, hp=hp), at=(4, 2)) == plain


CRYPTOG = {3: 1, 4: nearest(2, 3)}
UNSEEN = cryptog(4, 4, lastKnownRow=0, lastKnownCol=0)
MARKED = cryptog(4, 4, stunned=True, **CALLED)
RICH = credits(4, 4, 3) | {"energy": 3}
CENTRED = {"centres": ((4, 4),)}
PUSH = program(4, 4, "push", spawnCount=0)


@pytest.mark.parametrize(
    ("start", "channels"),
    [
        *[
            (state(data(4, 4, points=p, spawnCount=9 - p)), {7: 1, 10: nearest(p, 9), SPAWN: nearest(9 - p, 9)})
            for p in range(1, 10)
        ],
        *[
            (state(program(4, 4, name)), {8: 1, 12 + ACTION[name] - 5: 1, SPAWN: nearest(spawn, 9)})
            for name, *_, spawn in PROGRAM_TABLE
        ],
        *[
            (state(coming("daemon", 4, 4, turns=turns, **CALLED)), {TURNS: nearest(turns, 4)})
            for turns in (0, 1, 2, 3, 4, 5, 255)
        ],
        *[
            (state(credits(4, 4, n) | {"energy": 4 - n}), {CREDITS: nearest(n, 3), ENERGY: nearest(4 - n, 3)})
            for n in (1, 2, 3)
        ],
        (state(daemon(4, 4)), {1: 1, 4: 1}),
        (state(pickup(4, 4)), {PICKUP: 1}),
        (state(**CENTRED), {CENTRE: 1}),
        (state(question(4, 4), **CENTRED), {9: 1, CENTRE: 1}),
        # Siphoned shows on blocks only.
        (state(data(4, 4, points=9, spawnCount=0, siphoned=True)), {7: 1, 10: 1, 11: 1}),
        (state(siphoned=((4, 4),)), {}),
        (state(question(4, 4, siphoned=True)), {9: 1, 11: 1}),
        # An enemy on a block shows with it.
        (state(data(4, 4, points=9), glitch(4, 4)), {2: 1, 4: nearest(2, 3), 7: 1, 10: 1, SPAWN: 1}),
    ],
)
def test_O3_what_a_cell_shows(engine: Engine, start: StateDict, channels: dict[int, Any]) -> None:
    assert seen_at(engine.observe(start), 4, 4) == {channel: value for channel, value in channels.items() if value}


def test_O3_the_exit(engine: Engine) -> None:
    assert seen(engine, exit=(5, 0), at=(5, 0)) == {EXIT: 1}


@pytest.mark.parametrize(
    ("start", "channels"),
    [
        # A cryptog shows in the player's row or column, whatever lies between, or with SHOW on.
        (state(cryptog(4, 4)), {}),
        (state(cryptog(4, 4), player=(2, 4)), CRYPTOG),
        (state(cryptog(4, 4), virus(4, 2), data(4, 3), player=(4, 0)), CRYPTOG),
        (state(MARKED), {}),
        (state(MARKED, showActivated=True), CRYPTOG | {5: 1, 6: 1}),
        (state(UNSEEN, pickup(4, 4)), {PICKUP: 1}),
        (state(cryptog(0, 0, lastKnownRow=4, lastKnownCol=4)), {}),
        # A question hides its content, and a block what lies under it until it is siphoned.
        (state(question(4, 4, points=9)), {9: 1}),
        (state(question(4, 4, program="atk+")), {9: 1}),
        (state(PUSH, RICH), {8: 1, 12: 1}),
        (state(PUSH | {"siphoned": True}, RICH), {8: 1, 11: 1, 12: 1, CREDITS: 1, ENERGY: 1}),
    ],
)
def test_O4_what_is_hidden(engine: Engine, start: StateDict, channels: dict[int, Any]) -> None:
    assert seen_at(engine.observe(start), 4, 4) == channels


def test_O4_transmission_types_are_not_in_the_array(engine: Engine) -> None:
    for show in (False, True):
        several = [engine.observe(state(coming(kind, 4, 4), showActivated=show)) for kind in ENEMIES]
        assert all((values == several[0]).all() for values in several)


def test_O_moving_the_player_moves_the_view(engine: Engine) -> None:
    before = state(cryptog(1, 4, frozen=True))
    after = engine.play(before, DOWN).state
    assert only(after["enemies"])["lastKnownRow"] == 1
    assert [seen_at(engine.observe(given), 1, 4) for given in (before, after)] == [{}, CRYPTOG]

"""Each reading of table W: its arithmetic is the engine's component, and its words name the reasons."""

from collections import Counter

import pytest

from hackmatrix import jax_env
from hackmatrix.explain.readings import readings_of
from hackmatrix.explain.transition import UNDO
from hackmatrix.rules import COMPONENTS
from rlparity import State
from tests.hackmatrix.rules.blocks import credits, data, pickup
from tests.hackmatrix.rules.builders import RIGHT, SIPHON, UP, WAIT, state
from tests.hackmatrix.rules.engines import Entry, Json
from tests.hackmatrix.rules.movers import CALLED, SCHEDULED, coming, daemon, virus
from tests.hackmatrix.rules.tables import ACTION

from .conftest import Paid, Play

PRICES = jax_env.rules()["rewards"]["prices"]
RESET, ROW, CRASH, WARP = (ACTION[name] for name in ("reset", "row", "crash", "warp"))


def able(*entries: Entry, **fields: Json) -> State:
    """A state whose player can pay and owns every program; nobody is spawned."""
    usual = {"credits": 20, "energy": 20, "dataSiphons": 2, "owned": " ".join(ACTION), "scheduledTasksDisabled": True}
    return state(*entries, **(usual | fields))


def dying(**fields: Json) -> State:
    return able(daemon(2, 3, **fields), hp=1, stage=3)


def undoing(*entries: Entry, **restored: Json) -> State:
    record = able(*entries, closestApproach=8, **restored)
    return able(history=record, killsSinceHistory=2, pickupsSinceHistory=1, closestApproach=5)


DOORSTEP = able(player=(4, 5), score=7, stage=8)
WARPING = able(daemon(5, 5))
CALLER = "1: died beside the daemon at (2,3), from a siphon"
TWO = "1: removed daemon at (2,0); not counted, being scheduled: virus at (2,5) (V4)"
BETTER = "missed 2 credits, 0 energy: here 1 credits, 0 energy; (3,4) gives 3 credits, 0 energy"

READ: list[tuple[State, int, str, str]] = [
    (able(), UP, "step_penalty", "1: a valid action"),
    (able(data(3, 2, 3)), SIPHON, "score_gain", "3: score 0 -> 3"),
    (able(coming("virus", 5, 2)), UP, "kills", "1: removed coming virus at (5,2)"),
    (able(daemon(2, 0, hp=1), virus(2, 5, hp=1, **SCHEDULED)), ROW, "kills", TWO),
    (
        able(daemon(3, 3, hp=1), coming("virus", 1, 1)),
        CRASH,
        "kills",
        "2: removed coming virus at (1,1), daemon at (3,3)",
    ),
    # WARP into the exit: the next board is another
    (WARPING, WARP, "kills", "1: removed daemon at (5,5)"),
    (WARPING, WARP, "stage_completion", "1: stage 1 completed"),
    (able(pickup(3, 2)), UP, "data_siphon", "1: walked onto the pickup at (3,2)"),
    (able(closestApproach=6), UP, "distance_shaping", "1: closest approach 6 -> 5"),
    (able(player=(4, 5), closestApproach=3), UP, "distance_shaping", "3: the stage is completed"),
    (dying(), WAIT, "death_penalty", "1: died in stage 3"),
    (dying(**CALLED), WAIT, "siphon_death_penalty", CALLER),
    (DOORSTEP, UP, "victory", "7: won with score 7"),
    (DOORSTEP, UP, "stage_completion", "1: stage 8 completed"),
    (DOORSTEP, UP, "resource_holding", "40: holding 20 credits, 20 energy at the end of the stage"),
    (able(data(3, 3)), CRASH, "resource_gain", "-5: credits 20 -> 17, energy 20 -> 18"),
    (able(daemon(2, 3)), WAIT, "damage_penalty", "1: hp 3 -> 2"),
    (able(hp=1), RESET, "hp_recovery", "2: hp 1 -> 3"),
    (able(hp=2), RESET, "program_waste", "1: RESET at hp 2"),
    (able(credits(2, 2, 1), credits(4, 4, 3)), SIPHON, "siphon_quality", f"2: {BETTER}"),
    (
        able(data(2, 2), credits(2, 1, 3)),
        SIPHON,
        "siphon_quality",
        "3: missed 3 credits, 0 energy: here 0 credits, 0 energy; ",
    ),
    (undoing(), UNDO, "kills", "-2: UNDO repays the kills since its record, 2 (W3)"),
    (undoing(), UNDO, "data_siphon", "-1: UNDO repays the pickups since its record, 1 (W3)"),
    (undoing(), UNDO, "distance_shaping", "-3: UNDO restores the closest approach, 5 -> 8 (W3)"),
]


@pytest.mark.parametrize(("start", "action", "component", "said"), READ, ids=[f"{row[2]}: {row[3]}" for row in READ])
def test_W_a_reading_says_what_a_component_was_paid_for(
    play: Play, start: State, action: int, component: str, said: str
) -> None:
    paid = play(start, action)
    at = COMPONENTS.index(component)
    reading = readings_of(paid.step, PRICES)[at]
    assert reading.value == paid.values[at]
    _, reason = str(reading).split(" x ", 1)
    assert reason.startswith(said)


WORTH: dict[str, tuple[State, int]] = {
    "nothing, being invalid": (able(credits=0), ROW),
    "nobody who is only stunned": (able(daemon(3, 2, hp=2)), UP),
    "nobody behind a block": (able(data(4, 2), daemon(5, 2, hp=1)), UP),
    "who stands on a block": (able(data(4, 2), daemon(4, 2, hp=1)), UP),
    "nobody who was moved": (able(daemon(2, 5, hp=1), daemon(4, 4, hp=1)), ACTION["push"]),
    "no pickup that an attack stopped at": (able(pickup(3, 2), daemon(4, 2, hp=1)), UP),
    "no approach without a path": (able(data(4, 5), data(5, 4), closestApproach=9), UP),
    "no approach in death": (dying() | {"closestApproach": 9}, RIGHT),
    "no waste at hp 1": (able(hp=1), RESET),
    "no cell of other blocks": (able(data(2, 3), data(5, 1), credits(5, 0, 3)), SIPHON),
    "a restored death": (undoing(daemon(2, 3, hp=1, **CALLED), hp=0, stage=4), UNDO),
    "a restored last stage": ({**undoing(stage=9), "stage": 8}, UNDO),
}


@pytest.mark.parametrize("what", WORTH)
def test_W_every_reading_is_worth_what_the_engine_paid_where_rules_except(play: Play, what: str) -> None:
    paid = play(*WORTH[what])
    readings = readings_of(paid.step, PRICES)
    assert [reading.value for reading in readings] == list(paid.values)


def test_W_in_many_games_every_component_is_its_reading(paid_steps: list[Paid]) -> None:
    times: Counter[str] = Counter()
    for step, values in paid_steps:
        worth = tuple(reading.value for reading in readings_of(step, PRICES))
        assert worth == values, (step, dict(zip(COMPONENTS, worth, strict=True)))
        for name, value in zip(COMPONENTS, worth, strict=True):
            times[name] += value != 0
            times[f"UNDO {name}"] += value != 0 and step.undone
    assert min(times[name] for name in COMPONENTS) >= 3, times
    assert min(times[f"UNDO {name}"] for name in ("kills", "data_siphon", "distance_shaping")) >= 3, times

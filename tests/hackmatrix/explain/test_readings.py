"""Each reading of table W: its arithmetic is the engine's component, and its words name the reasons."""

from typing import Any

import pytest

from hackmatrix import jax_env, rules
from hackmatrix.explain.readings import readings_of
from hackmatrix.explain.transition import UNDO
from hackmatrix.rules import ACTIONS, COMPONENTS
from parity import State

from .conftest import Play

UP, DOWN, LEFT, RIGHT, SIPHON = range(5)
WAIT, WARP, RESET, ROW, CRASH, PUSH = (
    ACTIONS.index(name) for name in ("WAIT", "WARP", "RESET", "ROW", "CRASH", "PUSH")
)


def state(row: int = 2, col: int = 2, player: dict[str, Any] | None = None, **fields: Any) -> State:  # noqa: ANN401
    """A state whose player stands at (row, col), can pay and owns every program; nobody is spawned."""
    person = {"row": row, "col": col, "credits": 20, "energy": 20, "dataSiphons": 2, **(player or {})}
    return {
        "player": person,
        "exit": {"row": 5, "col": 5},
        "ownedPrograms": list(range(rules.FIRST_PROGRAM, rules.NUM_ACTIONS)),
        "scheduledTasksDisabled": True,
        **fields,
    }


def enemy(row: int, col: int, kind: str = "daemon", hp: int = 1, **fields: bool) -> State:
    return {"row": row, "col": col, "type": kind, "hp": hp, **fields}


def coming(row: int, col: int) -> State:
    return {"row": row, "col": col, "turnsRemaining": 9, "enemyType": "virus"}


def data(row: int, col: int, points: int = 5) -> State:
    return {"row": row, "col": col, "type": "data", "points": points}


def credits(row: int, col: int, amount: int) -> State:
    return {"row": row, "col": col, "credits": amount}


def dying(**fields: Any) -> State:  # noqa: ANN401
    return state(player={"hp": 1}, enemies=[enemy(2, 3, hp=3, **fields)], stage=3)


def undoing(**restored: Any) -> State:  # noqa: ANN401
    record = state(closestApproach=8, **restored)
    return state(history=record, killsSinceHistory=2, pickupsSinceHistory=1, closestApproach=5)


PICKUP = [{"row": 3, "col": 2, "dataSiphon": True}]
DOORSTEP = state(4, 5, player={"score": 7}, stage=8)
SCHEDULED = enemy(2, 5, "virus", isFromScheduledTask=True)

READ: list[tuple[State, int, str, str]] = [
    (state(), UP, "step_penalty", "-0.01 x 1: a valid action"),
    (state(blocks=[data(3, 2, 3)]), SIPHON, "score_gain", "0.5 x 3: score 0 -> 3"),
    (state(transmissions=[coming(5, 2)]), UP, "kills", "0.3 x 1: removed coming virus at (5,2)"),
    (
        state(enemies=[enemy(2, 0), SCHEDULED]),
        ROW,
        "kills",
        "0.3 x 1: removed daemon at (2,0); not counted, being scheduled: virus at (2,5) (V4)",
    ),
    (
        state(enemies=[enemy(3, 3)], transmissions=[coming(1, 1)]),
        CRASH,
        "kills",
        "0.3 x 2: removed coming virus at (1,1), daemon at (3,3)",
    ),
    # WARP into the exit: the next board is another
    (state(enemies=[enemy(5, 5)]), WARP, "kills", "0.3 x 1: removed daemon at (5,5)"),
    (state(enemies=[enemy(5, 5)]), WARP, "stage_completion", "1 x 1: stage 1 completed"),
    (state(resources=PICKUP), UP, "data_siphon", "1 x 1: walked onto the pickup at (3,2)"),
    (state(closestApproach=6), UP, "distance_shaping", "0.05 x 1: closest approach 6 -> 5"),
    (state(4, 5, closestApproach=3), UP, "distance_shaping", "0.05 x 3: the stage is completed"),
    (dying(), WAIT, "death_penalty", "-1.5 x 1: died in stage 3"),
    (
        dying(spawnedFromSiphon=True),
        WAIT,
        "siphon_death_penalty",
        "-10 x 1: died beside the daemon at (2,3), from a siphon",
    ),
    (DOORSTEP, UP, "victory", "500 + 100 x 7: won with score 7"),
    (DOORSTEP, UP, "stage_completion", "100 x 1: stage 8 completed"),
    (DOORSTEP, UP, "resource_holding", "0.01 x 40: holding 20 credits, 20 energy at the end of the stage"),
    (state(blocks=[data(3, 3)]), CRASH, "resource_gain", "0.05 x -5: credits 20 -> 17, energy 20 -> 18"),
    (state(enemies=[enemy(2, 3, hp=3)]), WAIT, "damage_penalty", "-1 x 1: hp 3 -> 2"),
    (state(player={"hp": 1}), RESET, "hp_recovery", "1 x 2: hp 1 -> 3"),
    (state(player={"hp": 2}), RESET, "program_waste", "-0.3 x 1: RESET at hp 2"),
    (
        state(resources=[credits(2, 2, 1), credits(4, 4, 3)]),
        SIPHON,
        "siphon_quality",
        "-0.025 x 2: missed 2 credits, 0 energy: here 1 credits, 0 energy; (3,4) gives 3 credits, 0 energy",
    ),
    (
        state(blocks=[data(2, 2)], resources=[credits(2, 1, 3)]),
        SIPHON,
        "siphon_quality",
        "-0.025 x 3: missed 3 credits, 0 energy: here 0 credits, 0 energy; ",
    ),
    (undoing(), UNDO, "kills", "0.3 x -2: UNDO repays the kills since its record, 2 (W3)"),
    (undoing(), UNDO, "data_siphon", "1 x -1: UNDO repays the pickups since its record, 1 (W3)"),
    (undoing(), UNDO, "distance_shaping", "0.05 x -3: UNDO restores the closest approach, 5 -> 8 (W3)"),
]


@pytest.mark.parametrize(("start", "action", "component", "said"), READ, ids=[f"{row[2]}: {row[3]}" for row in READ])
def test_W_a_reading_says_what_a_component_was_paid_for(
    play: Play, start: State, action: int, component: str, said: str
) -> None:
    paid = play(start, action)
    at = COMPONENTS.index(component)
    reading = readings_of(paid.step, jax_env.rules()["rewards"]["prices"])[at]
    assert reading.value == paid.values[at]
    assert str(reading).startswith(said)


WORTH: dict[str, tuple[State, int]] = {
    "nothing, being invalid": (state(player={"credits": 0}), ROW),
    "nobody who is only stunned": (state(enemies=[enemy(3, 2, hp=2)]), UP),
    "nobody behind a block": (state(blocks=[data(4, 2)], enemies=[enemy(5, 2)]), UP),
    "who stands on a block": (state(blocks=[data(4, 2)], enemies=[enemy(4, 2)]), UP),
    "nobody who was moved": (state(enemies=[enemy(2, 5), enemy(4, 4)]), PUSH),
    "no pickup that an attack stopped at": (state(resources=PICKUP, enemies=[enemy(4, 2)]), UP),
    "no approach without a path": (state(closestApproach=9, blocks=[data(4, 5), data(5, 4)]), UP),
    "no approach in death": (dying() | {"closestApproach": 9}, RIGHT),
    "no waste at hp 1": (state(player={"hp": 1}), RESET),
    "no cell of other blocks": (state(blocks=[data(2, 3), data(5, 1)], resources=[credits(5, 0, 3)]), SIPHON),
    "a restored death": (undoing(player={"hp": 0}, enemies=[enemy(2, 3, spawnedFromSiphon=True)], stage=4), UNDO),
    "a restored last stage": ({**undoing(stage=9), "stage": 8}, UNDO),
}


@pytest.mark.parametrize("what", WORTH)
def test_W_every_reading_is_worth_what_the_engine_paid_where_rules_except(play: Play, what: str) -> None:
    paid = play(*WORTH[what])
    readings = readings_of(paid.step, jax_env.rules()["rewards"]["prices"])
    assert [reading.value for reading in readings] == list(paid.values)

"""Each reading of table W, rule by rule: its arithmetic is the engine's component, and its words name the reasons."""

from typing import Any

import pytest

from hackmatrix import jax_env, rules
from hackmatrix.explain.readings import READINGS, Reading, readings_of
from hackmatrix.explain.transition import UNDO
from hackmatrix.rules import ACTIONS, COMPONENTS
from parity import State

from .conftest import Play

UP, DOWN, LEFT, RIGHT, SIPHON = range(5)
WAIT, WARP, RESET, ROW, CRASH = (ACTIONS.index(name) for name in ("WAIT", "WARP", "RESET", "ROW", "CRASH"))


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


def coming(row: int, col: int, **fields: bool) -> State:
    return {"row": row, "col": col, "turnsRemaining": 9, "enemyType": "virus", **fields}


def data(row: int, col: int, points: int = 5) -> State:
    return {"row": row, "col": col, "type": "data", "points": points}


def credits(row: int, col: int, amount: int) -> State:
    return {"row": row, "col": col, "credits": amount}


def read(play: Play, start: State, action: int, component: str) -> Reading:
    """A component's reading, which must be worth what the engine paid."""
    paid = play(start, action)
    at = COMPONENTS.index(component)
    reading = readings_of(paid.step, jax_env.rules()["rewards"]["prices"])[at]
    assert reading.value == paid.values[0][at]
    return reading


def told(play: Play, start: State, action: int, component: str) -> str:
    return str(read(play, start, action, component))


def value(play: Play, start: State, action: int, component: str) -> int:
    return read(play, start, action, component).value


def test_W_the_readings_stand_in_the_order_of_table_w() -> None:
    assert tuple(READINGS) == COMPONENTS


def test_C1_an_invalid_action_is_worth_0_in_every_reading(play: Play) -> None:
    paid = play(state(player={"credits": 0}), ROW)
    assert not paid.step.valid
    assert [value(play, paid.step.before, ROW, name) for name in COMPONENTS] == list(paid.values[0])
    assert not any(paid.values[0])


def test_W_step_penalty(play: Play) -> None:
    assert told(play, state(), UP, "step_penalty") == "-0.01 x 1: a valid action"


def test_W_score_gain(play: Play) -> None:
    assert told(play, state(blocks=[data(3, 2, 3)]), SIPHON, "score_gain") == "0.5 x 3: score 0 -> 3"


def test_W_kills_names_the_target_of_an_attack_however_far(play: Play) -> None:
    start = state(transmissions=[coming(5, 2)])
    assert told(play, start, UP, "kills") == "0.3 x 1: removed coming virus at (5,2)"


def test_W_kills_counts_nobody_who_is_only_stunned(play: Play) -> None:
    assert value(play, state(enemies=[enemy(3, 2, hp=2)]), UP, "kills") == 0
    assert value(play, state(player={"attackDamage": 2}, enemies=[enemy(3, 2, hp=2)]), UP, "kills") == 300


def test_V1_a_block_shields_what_is_behind_it_but_not_who_stands_on_it(play: Play) -> None:
    behind = state(blocks=[data(4, 2)], enemies=[enemy(5, 2)])
    assert value(play, behind, UP, "kills") == 0
    assert value(play, state(blocks=[data(4, 2)], enemies=[enemy(4, 2)]), UP, "kills") == 300


def test_V4_a_scheduled_enemy_is_named_but_does_not_count(play: Play) -> None:
    start = state(enemies=[enemy(2, 0), enemy(2, 5, "virus", isFromScheduledTask=True)])
    text = "0.3 x 1: removed daemon at (2,0); not counted, being scheduled: virus at (2,5) (V4)"
    assert told(play, start, ROW, "kills") == text


@pytest.mark.parametrize("name", ["PUSH", "PULL"])
def test_P_nobody_who_was_moved_counts_as_removed(play: Play, name: str) -> None:
    start = state(enemies=[enemy(2, 5), enemy(4, 4)])
    assert value(play, start, ACTIONS.index(name), "kills") == 0


def test_P_CRASH_names_everybody_it_removes(play: Play) -> None:
    start = state(enemies=[enemy(3, 3)], transmissions=[coming(1, 1)])
    assert told(play, start, CRASH, "kills") == "0.3 x 2: removed coming virus at (1,1), daemon at (3,3)"


def test_P_WARP_into_the_exit_names_whom_it_removed_though_the_next_board_is_another(play: Play) -> None:
    start = state(enemies=[enemy(5, 5)])
    assert told(play, start, WARP, "kills") == "0.3 x 1: removed daemon at (5,5)"
    assert told(play, start, WARP, "stage_completion") == "1 x 1: stage 1 completed"


def test_W_data_siphon(play: Play) -> None:
    start = state(resources=[{"row": 3, "col": 2, "dataSiphon": True}])
    assert told(play, start, UP, "data_siphon") == "1 x 1: walked onto the pickup at (3,2)"
    attacked = {**start, "enemies": [enemy(4, 2)]}
    assert value(play, attacked, UP, "data_siphon") == 0


def test_W1_the_gain_is_on_the_closest_approach(play: Play) -> None:
    start = state(closestApproach=6)
    assert told(play, start, UP, "distance_shaping") == "0.05 x 1: closest approach 6 -> 5"
    assert value(play, {**start, "closestApproach": 4}, UP, "distance_shaping") == 0


def test_W1_nothing_is_gained_without_a_path_and_the_rest_on_completing_the_stage(play: Play) -> None:
    walled = state(closestApproach=9, blocks=[data(4, 5), data(5, 4)])
    assert value(play, walled, UP, "distance_shaping") == 0
    doorstep = state(4, 5, closestApproach=3)
    assert told(play, doorstep, UP, "distance_shaping").startswith("0.05 x 3: the stage is completed")


def test_W1_death_gains_nothing(play: Play) -> None:
    start = state(player={"hp": 1}, closestApproach=9, enemies=[enemy(4, 2, hp=3), enemy(3, 3, hp=3)], stage=2)
    assert value(play, start, RIGHT, "distance_shaping") == 0


def dying(**fields: Any) -> State:  # noqa: ANN401
    return state(player={"hp": 1}, enemies=[enemy(2, 3, hp=3, **fields)], stage=3)


def test_W_death_penalty(play: Play) -> None:
    assert told(play, dying(), WAIT, "death_penalty") == "-1.5 x 1: died in stage 3"


def test_W_siphon_death_penalty_names_who_came_from_the_siphon(play: Play) -> None:
    text = "-10 x 1: died beside the daemon at (2,3), from a siphon"
    assert told(play, dying(spawnedFromSiphon=True), WAIT, "siphon_death_penalty") == text
    assert value(play, dying(), WAIT, "siphon_death_penalty") == 0


def test_W_victory_and_holding(play: Play) -> None:
    start = state(4, 5, player={"score": 7}, stage=8)
    assert told(play, start, UP, "victory") == "500 + 100 x 7: won with score 7"
    assert told(play, start, UP, "stage_completion") == "100 x 1: stage 8 completed"
    held = "0.01 x 40: holding 20 credits, 20 energy at the end of the stage"
    assert told(play, start, UP, "resource_holding") == held


def test_W_resource_gain_names_both_changes(play: Play) -> None:
    assert told(play, state(blocks=[data(3, 3)]), CRASH, "resource_gain") == (
        "0.05 x -5: credits 20 -> 17, energy 20 -> 18"
    )


def test_W_damage_penalty_and_hp_recovery(play: Play) -> None:
    hurt = state(enemies=[enemy(2, 3, hp=3)])
    assert told(play, hurt, WAIT, "damage_penalty") == "-1 x 1: hp 3 -> 2"
    assert told(play, state(player={"hp": 1}), RESET, "hp_recovery") == "1 x 2: hp 1 -> 3"


def test_W_program_waste(play: Play) -> None:
    assert told(play, state(player={"hp": 2}), RESET, "program_waste") == "-0.3 x 1: RESET at hp 2"
    assert value(play, state(player={"hp": 1}), RESET, "program_waste") == 0


def test_W2_the_better_cells_are_named_with_what_they_give(play: Play) -> None:
    start = state(resources=[credits(2, 2, 1), credits(4, 4, 3)])
    text = told(play, start, SIPHON, "siphon_quality")
    assert text.startswith("-0.025 x 2: missed 2 credits, 0 energy: here 1 credits, 0 energy; ")
    assert "(4,4) gives 3 credits, 0 energy" in text


def test_W2_a_better_cell_reaches_the_same_blocks(play: Play) -> None:
    block = data(2, 3)
    far = state(blocks=[block, data(5, 1)], resources=[credits(5, 0, 3)])
    assert value(play, far, SIPHON, "siphon_quality") == 0
    near = state(blocks=[block], resources=[credits(1, 3, 3)])
    assert "(1,3) gives 3 credits" in told(play, near, SIPHON, "siphon_quality")


def test_W2_nothing_is_given_on_a_block(play: Play) -> None:
    start = state(blocks=[data(2, 2)], resources=[credits(2, 1, 3)])
    assert "here 0 credits, 0 energy" in told(play, start, SIPHON, "siphon_quality")


def undoing(**restored: Any) -> State:  # noqa: ANN401
    record = state(closestApproach=8, **restored)
    return state(history=record, killsSinceHistory=2, pickupsSinceHistory=1, closestApproach=5)


def test_W3_UNDO_repays_kills_pickups_and_the_approach(play: Play) -> None:
    assert told(play, undoing(), UNDO, "kills") == "0.3 x -2: UNDO repays the kills since its record, 2 (W3)"
    assert told(play, undoing(), UNDO, "data_siphon") == "1 x -1: UNDO repays the pickups since its record, 1 (W3)"
    text = "0.05 x -3: UNDO restores the closest approach, 5 -> 8 (W3)"
    assert told(play, undoing(), UNDO, "distance_shaping") == text


@pytest.mark.parametrize("component", COMPONENTS)
def test_P_UNDO_a_restored_death_is_read_as_the_engine_pays_it(play: Play, component: str) -> None:
    told(play, undoing(player={"hp": 0}, enemies=[enemy(2, 3, spawnedFromSiphon=True)], stage=4), UNDO, component)


@pytest.mark.parametrize("component", COMPONENTS)
def test_P_UNDO_a_restored_last_stage_is_no_victory(play: Play, component: str) -> None:
    told(play, {**undoing(stage=9), "stage": 8}, UNDO, component)

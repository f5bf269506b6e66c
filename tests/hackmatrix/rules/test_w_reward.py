"""Chapter W: the reward components, exact in thousandths."""

import jax
import numpy as np
import pytest

from hackmatrix import jax_env
from hackmatrix.rules import COMPONENTS

from .builders import (
    APPLICABLE,
    DOWN,
    LEFT,
    RIGHT,
    SIPHON,
    UP,
    WAIT,
    Json,
    credits,
    daemon,
    data,
    energy,
    pickup,
    program,
    question,
    rich,
    run,
    state,
    virus,
)
from .engines import Engine, Outcome, StateDict
from .reference.board import ACTION
from .reference.game import REWARD_NAMES

COMPLETION = [1000, 2000, 4000, 8000, 16000, 32000, 64000, 100000]


def doorstep(**fields: Json) -> StateDict:
    """A player one step below the exit."""
    return state(**({"player": (4, 5), "exit": (5, 5)} | fields))


def test_W_the_order_of_the_components() -> None:
    assert REWARD_NAMES == COMPONENTS


def test_W_the_float_reward_is_the_rounded_quotient_of_the_total() -> None:
    largest = 500_000 + 100_000 * 9999 + 600_000
    rng = np.random.default_rng(0)
    totals = np.concatenate([np.arange(-200_000, 200_000), rng.integers(-(2**24), largest, 100_000), [largest]])
    components = np.zeros((len(totals), len(COMPONENTS)), np.int32)
    components[:, 0] = -10
    components[:, 6] = totals + 10
    rewards = np.asarray(jax.jit(jax.vmap(jax_env.reward))(components))
    assert rewards.dtype == np.float32
    np.testing.assert_array_equal(rewards, totals.astype(np.float32) / np.float32(1000))


def test_W_step_penalty_on_every_valid_action(engine: Engine) -> None:
    for name in APPLICABLE:
        assert engine.play(*run(name, **APPLICABLE[name])).components["step_penalty"] == -10, name
    assert engine.play(state(dataSiphons=1), SIPHON).components["step_penalty"] == -10
    assert engine.play(doorstep(), UP).components["step_penalty"] == -10
    assert engine.play(doorstep(), RIGHT).components["step_penalty"] == 0  # invalid


@pytest.mark.parametrize("stage", range(1, 9))
def test_W_stage_completion(engine: Engine, stage: int) -> None:
    assert engine.play(doorstep(stage=stage), UP).components["stage_completion"] == COMPLETION[stage - 1]
    assert "stage_completion" not in engine.play(doorstep(stage=stage), LEFT).rewards


def test_W_score_gain(engine: Engine) -> None:
    siphoned = engine.play(state(dataSiphons=1, blocks=[data(3, 2, points=7), data(2, 3, points=2)]), SIPHON)
    assert siphoned.components["score_gain"] == 500 * 9


def test_W_kills(engine: Engine) -> None:
    start, action = run(
        "row", attackDamage=3, enemies=[daemon(2, 0), virus(2, 4), virus(2, 5, isFromScheduledTask=True)]
    )
    assert engine.play(start, action).components["kills"] == 600


def test_W_data_siphon_for_a_pickup_walked_onto_alone(engine: Engine) -> None:
    assert engine.play(state(resources=[pickup(3, 2)]), UP).components["data_siphon"] == 1000
    assert engine.play(*run("siph+")).components["data_siphon"] == 0


def test_W_distance_shaping(engine: Engine) -> None:
    start = state(player=(2, 2), exit=(5, 5), scheduledTasksDisabled=True)
    assert engine.play(start, UP).components["distance_shaping"] == 50
    assert engine.play(start, DOWN).components["distance_shaping"] == 0


@pytest.mark.parametrize("score", [0, 7, 9999])
def test_W_victory(engine: Engine, score: int) -> None:
    won = engine.play(doorstep(stage=8, score=score), UP)
    assert won.components["victory"] == 500_000 + 100_000 * score
    assert won.components["stage_completion"] == 100_000
    assert "victory" not in engine.play(doorstep(stage=7, score=score), UP).rewards


def dying(**fields: Json) -> StateDict:
    """A player in (2,2) who dies in the next enemy turn."""
    return state(**({"hp": 1, "owned": "wait", "energy": 1, "enemies": [daemon(2, 3)]} | fields))


@pytest.mark.parametrize("stage", range(1, 9))
def test_W_death_penalty(engine: Engine, stage: int) -> None:
    died = engine.play(dying(stage=stage), WAIT)
    assert died.death
    assert died.components["death_penalty"] == -sum(COMPLETION[: stage - 1]) // 2
    alive = engine.play(dying(stage=stage, hp=2), WAIT)
    assert not alive.death
    assert alive.components["death_penalty"] == 0


def test_W_resource_gain(engine: Engine) -> None:
    start = state(dataSiphons=1, resources=[credits(2, 2, 3), energy(3, 2, 2), credits(5, 5, 3)])
    assert engine.play(start, SIPHON).components["resource_gain"] == 50 * 5
    assert engine.play(*run("crash", blocks=[data(3, 3)])).components["resource_gain"] == -50 * 5
    assert engine.play(*run("exch")).components["resource_gain"] == 0


def test_W_resource_holding_when_a_stage_was_completed(engine: Engine) -> None:
    held = {"credits": 21, "energy": 9}
    assert engine.play(doorstep(**held), UP).components["resource_holding"] == 300
    assert engine.play(doorstep(stage=8, **held), UP).components["resource_holding"] == 300
    assert engine.play(doorstep(**held), LEFT).components["resource_holding"] == 0
    start, action = run("warp", enemies=[daemon(5, 5)])
    assert engine.play(start, action).components["resource_holding"] == 10 * (48 + 48)


def test_W_damage_penalty(engine: Engine) -> None:
    enemies = [daemon(3, 2), daemon(1, 2)]
    hurt = engine.play(state(owned="wait", energy=1, enemies=enemies), WAIT)
    assert hurt.components["damage_penalty"] == -2000
    assert hurt.components["hp_recovery"] == 0
    # At hp 1 one point is left to lose.
    died = engine.play(state(owned="wait", energy=1, hp=1, enemies=enemies), WAIT)
    assert died.components["damage_penalty"] == -1000


def test_W_damage_penalty_also_when_UNDO_restores_fewer_hp(engine: Engine) -> None:
    healed = engine.play(rich(owned="undo", hp=3, history=state(hp=1)), ACTION["undo"])
    assert healed.components["damage_penalty"] == -2000


def test_W_hp_recovery(engine: Engine) -> None:
    assert engine.play(*run("reset", hp=1)).components["hp_recovery"] == 2000
    assert engine.play(doorstep(hp=2), UP).components["hp_recovery"] == 1000
    assert engine.play(doorstep(hp=3), UP).components["hp_recovery"] == 0
    assert engine.play(doorstep(hp=2, stage=8), UP).components["hp_recovery"] == 1000


def test_W_siphon_quality(engine: Engine) -> None:
    start = state(dataSiphons=1, resources=[credits(2, 2, 1), credits(5, 0, 3), energy(0, 0, 2)])
    # (5,0) and its neighbours yield 3 credits and no energy: as much energy, more credits.
    # (0,0) has less credits than 1, so it is not better.
    assert engine.play(start, SIPHON).components["siphon_quality"] == -25 * 2


def test_W_siphon_death_penalty(engine: Engine) -> None:
    spawned = {"spawnedFromSiphon": True}
    killer = engine.play(dying(enemies=[daemon(2, 3, **spawned)]), WAIT)
    assert killer.components["siphon_death_penalty"] == -10_000
    # Any such enemy next to the player counts, whoever struck.
    beside = engine.play(dying(enemies=[daemon(2, 3), virus(3, 2, frozen=True, **spawned)]), WAIT)
    assert beside.components["siphon_death_penalty"] == -10_000
    diagonal = engine.play(dying(enemies=[daemon(2, 3), virus(3, 3, frozen=True, **spawned)]), WAIT)
    assert diagonal.death
    assert diagonal.components["siphon_death_penalty"] == 0
    other = engine.play(dying(), WAIT)
    assert other.death
    assert other.components["siphon_death_penalty"] == 0
    alive = engine.play(dying(hp=2, enemies=[daemon(2, 3, **spawned)]), WAIT)
    assert alive.components["siphon_death_penalty"] == 0


def test_W_siphon_death_penalty_looks_at_the_end_of_the_enemy_turn(engine: Engine) -> None:
    # The virus with from_siphon arrives next to the player only in this turn.
    walker = virus(2, 0, spawnedFromSiphon=True)
    died = engine.play(dying(enemies=[daemon(2, 3), walker]), WAIT)
    assert died.components["siphon_death_penalty"] == -10_000


@pytest.mark.parametrize(("hp", "waste"), [(1, 0), (2, -300)])
def test_W_program_waste_for_RESET_at_hp_2(engine: Engine, hp: int, waste: int) -> None:
    assert engine.play(*run("reset", hp=hp)).components["program_waste"] == waste


# W1


def test_W1_the_distance_is_along_cells_without_blocks(engine: Engine) -> None:
    wall = [data(4, c) for c in range(5)]
    assert engine.complete(state(player=(5, 0), exit=(5, 5), blocks=wall))["closestApproach"] == 5
    assert engine.complete(state(player=(3, 0), exit=(5, 5), blocks=wall))["closestApproach"] == 7
    detour = [data(r, 1) for r in range(1, 6)]
    assert engine.complete(state(player=(5, 0), exit=(5, 5), blocks=detour))["closestApproach"] == 15


def test_W1_enemies_do_not_block_and_start_counts_as_open(engine: Engine) -> None:
    enemies = [daemon(4, c) for c in range(6)]
    assert engine.complete(state(player=(3, 5), exit=(5, 5), enemies=enemies))["closestApproach"] == 2
    assert engine.complete(state(player=(3, 5), exit=(5, 5), blocks=[data(3, 5)]))["closestApproach"] == 2


def test_W1_without_a_path_nothing_is_gained_and_the_closest_approach_stays(engine: Engine) -> None:
    shut = state(player=(2, 2), exit=(5, 5), blocks=[data(4, 5), data(5, 4)])
    assert engine.complete(shut)["closestApproach"] == 0
    after = engine.play(shut | {"closestApproach": 9}, UP)
    assert after.components["distance_shaping"] == 0
    assert after.state["closestApproach"] == 9


def test_W1_only_new_ground_gains(engine: Engine) -> None:
    start = state(player=(2, 2), exit=(5, 5), closestApproach=5, scheduledTasksDisabled=True)
    first = engine.play(start, UP)  # from 6 to 5
    assert first.components["distance_shaping"] == 0
    second = engine.play(start, UP, UP)
    assert second.components["distance_shaping"] == 50
    assert second.state["closestApproach"] == 4


def test_W1_walking_to_and_fro_is_worth_exactly_minus_1(engine: Engine) -> None:
    now = state(player=(2, 2), exit=(5, 5), closestApproach=5, scheduledTasksDisabled=True)
    total = 0
    for number in range(100):
        outcome = engine.play(now, (UP, DOWN)[number % 2])
        total += sum(outcome.components.values())
        now = outcome.state
    assert total == -1000


def test_W1_completing_gains_the_whole_remaining_closest_approach(engine: Engine) -> None:
    assert engine.play(doorstep(closestApproach=1), UP).components["distance_shaping"] == 50
    assert engine.play(doorstep(closestApproach=7), UP).components["distance_shaping"] == 350
    start, action = run("warp", enemies=[daemon(5, 5)], player=(0, 0))
    assert engine.play(start, action).components["distance_shaping"] == 500
    won = engine.play(doorstep(stage=8, closestApproach=3), UP)
    assert won.components["distance_shaping"] == 150
    assert won.state["closestApproach"] == 3


def test_W1_death_gains_nothing_and_the_closest_approach_stays(engine: Engine) -> None:
    died = engine.play(state(player=(2, 2), hp=1, exit=(5, 5), enemies=[daemon(3, 3)]), UP)
    assert died.death
    assert died.components["distance_shaping"] == 0
    assert died.state["closestApproach"] == 6


def test_W1_programs_that_shorten_the_way_gain(engine: Engine) -> None:
    wall = [data(4, c) for c in range(1, 6)]
    start, action = run("crash", player=(3, 4), exit=(5, 5), blocks=wall)
    after = engine.play(start, action)
    assert after.components["distance_shaping"] == 50 * (4 + 2 + 5 - 3)
    start, action = run("warp", player=(0, 0), exit=(5, 5), enemies=[daemon(4, 4)])
    assert engine.play(start, action).components["distance_shaping"] == 50 * 8


def test_W1_a_longer_way_costs_nothing(engine: Engine) -> None:
    start, action = run("warp", player=(4, 5), exit=(5, 5), enemies=[daemon(0, 0)])
    after = engine.play(start, action)
    assert after.components["distance_shaping"] == 0
    assert after.state["closestApproach"] == 1


def test_W1_on_the_exit_itself_the_distance_is_0(engine: Engine) -> None:
    start, action = run("step", player=(5, 5), exit=(5, 5), closestApproach=4)
    after = engine.play(start, action)
    assert after.components["distance_shaping"] == 200
    assert after.state["closestApproach"] == 0


# W2: the state of each test has its siphon in (2,2)


def siphon(engine: Engine, *resources: dict[str, int], **fields: Json) -> int:
    """siphon_quality of a siphon in (2,2), in units of -25."""
    outcome: Outcome = engine.play(state(**({"dataSiphons": 1, "resources": list(resources)} | fields)), SIPHON)
    quality, rest = divmod(outcome.components["siphon_quality"], -25)
    assert rest == 0
    return quality


def test_W2_nothing_is_missed_where_no_cell_is_better(engine: Engine) -> None:
    assert siphon(engine) == 0
    assert siphon(engine, credits(2, 2, 2)) == 0
    # As much, but not more.
    assert siphon(engine, credits(2, 2, 2), credits(5, 0, 2)) == 0


def test_W2_the_whole_cross_counts(engine: Engine) -> None:
    # (4,4)'s cross holds 3 + 3 credits, the current one 2.
    assert siphon(engine, credits(2, 3, 2), credits(4, 4, 3), credits(5, 4, 3)) == 4


def test_W2_a_better_cell_has_at_least_as_much_of_both_and_more_of_one(engine: Engine) -> None:
    here = (credits(2, 2, 1), energy(2, 2 + 1, 1))
    assert siphon(engine, *here, credits(5, 0, 3)) == 0  # less energy
    both = {"row": 5, "col": 0, "credits": 3, "energy": 1}
    assert siphon(engine, *here, both) == 2


def test_W2_the_largest_of_each_is_missed_even_from_different_cells(engine: Engine) -> None:
    assert siphon(engine, credits(5, 0, 3), energy(0, 5, 2)) == 3 + 2


def test_W2_siphoned_cells_yield_nothing(engine: Engine) -> None:
    assert siphon(engine, credits(5, 0, 3), siphoned=((5, 0),)) == 0
    assert siphon(engine, credits(2, 2, 3), credits(5, 0, 1), siphoned=((2, 2),)) == 1


def test_W2_resources_under_blocks_yield_nothing(engine: Engine) -> None:
    blocks = [data(5, 0, siphoned=True)]
    assert siphon(engine, credits(5, 0, 3), blocks=blocks) == 0


def test_W2_a_cell_with_a_block_is_no_candidate(engine: Engine) -> None:
    # Of the cells whose cross holds (4,4), all but (4,4) itself, a siphoned block, are siphoned blocks too.
    blocks = [data(r, c, siphoned=True) for r, c in [(4, 4), (3, 4), (4, 3), (4, 5)]]
    # (5,4) has no block, so it reaches its own credits, not those under blocks.
    assert siphon(engine, credits(5, 4, 2), blocks=blocks) == 2
    blocked = [*blocks, data(5, 4, siphoned=True)]
    assert siphon(engine, credits(4, 4, 2), blocks=blocked) == 0


def test_W2_the_points_must_be_equal_as_a_multiset(engine: Engine) -> None:
    # The current cross holds two data blocks of 4; (4,4)'s cross would hold one of 4.
    one = {"blocks": [data(3, 2, points=4), data(1, 2, points=4), data(4, 3, points=4)]}
    assert siphon(engine, credits(4, 4, 3), **one) == 0


def test_W2_the_better_cross_must_contain_the_same_block_cells(engine: Engine) -> None:
    # (4,2) also reaches the block (3,2): better. (4,5) reaches an equal block elsewhere: not.
    blocks = [data(3, 2, points=4), data(5, 5, points=4)]
    assert siphon(engine, credits(4, 2, 2), blocks=blocks[:1]) == 2
    assert siphon(engine, credits(4, 5, 3), blocks=blocks, exit=(5, 0)) == 0


def test_W2_questions_count_as_what_they_hide(engine: Engine) -> None:
    # The current cross holds data 4 and, unknown, program PUSH; (4,2) reaches the block (3,2) alone.
    assert siphon(engine, credits(4, 2, 2), blocks=[question(3, 2, points=4)]) == 2
    hidden = [question(3, 2, program="push"), program(1, 2, "pull")]
    assert siphon(engine, credits(4, 2, 2), blocks=hidden) == 0


def test_W2_owned_programs_do_not_count(engine: Engine) -> None:
    # Two owned programs yield nothing: the multiset and the set are empty, and any cell without blocks compares.
    blocks = [program(3, 2, "push"), program(1, 2, "pull")]
    assert siphon(engine, credits(5, 0, 2), blocks=blocks, owned="push pull") == 2
    assert siphon(engine, credits(5, 0, 2), blocks=blocks, owned="push") == 0
    # A cell next to a block with something to give is not better either: (5,0) is between two.
    giving = [data(4, 0), data(5, 1)]
    assert siphon(engine, credits(5, 0, 2), blocks=[*blocks, *giving], owned="push pull") == 0


def test_W2_all_unsiphoned_block_cells_of_the_cross_must_be_contained(engine: Engine) -> None:
    # (3,2) gives PUSH, (1,2) an owned program: equal sets at (4,2), but (1,2) is not in its cross.
    blocks = [program(3, 2, "push"), program(1, 2, "pull")]
    assert siphon(engine, credits(4, 2, 2), blocks=blocks, owned="pull") == 0
    gone = [program(3, 2, "push"), program(1, 2, "pull", siphoned=True)]
    assert siphon(engine, credits(4, 2, 2), blocks=gone, owned="pull") == 2


def test_W2_the_programs_are_a_set(engine: Engine) -> None:
    # Two blocks of one program in the current cross, both in (4,2)'s as well? No: only (3,2) is.
    twice = [program(3, 2, "push"), program(1, 2, "push")]
    assert siphon(engine, credits(4, 2, 2), blocks=twice) == 0
    # With nothing but (3,2) in the current cross, a second one in (4,2)'s cross changes no set.
    other = [program(3, 2, "push"), program(5, 2, "push")]
    assert siphon(engine, credits(4, 2, 2), blocks=other) == 2


def test_W2_on_a_block_the_current_yield_is_empty(engine: Engine) -> None:
    # The siphon itself gets the 2 credits of (2,3); yet (2,4), which reaches them too, is better than an empty yield.
    for siphoned in (False, True):
        blocks = [data(2, 2, points=3, siphoned=siphoned)]
        assert siphon(engine, credits(2, 3, 2), blocks=blocks) == 2


def test_W2_the_exit_and_occupied_or_unreachable_cells_are_cells_too(engine: Engine) -> None:
    assert siphon(engine, credits(5, 5, 3), exit=(5, 5), blocks=[data(4, 4), data(3, 5)]) == 3
    shut = [data(4, 5, siphoned=True), data(5, 4, siphoned=True)]
    assert siphon(engine, credits(5, 5, 3), exit=(0, 0), blocks=shut, enemies=[daemon(5, 5, frozen=True)]) == 3


def test_W2_is_about_the_siphon_alone(engine: Engine) -> None:
    assert engine.play(state(resources=[credits(5, 0, 3)]), UP).components["siphon_quality"] == 0


# W3


def test_W3_UNDO_repays_kills_and_pickups(engine: Engine) -> None:
    counted = {"history": state(player=(2, 3)), "killsSinceHistory": 4, "pickupsSinceHistory": 1}
    after = engine.play(rich(owned="undo", **counted), ACTION["undo"])
    assert after.components["kills"] == -1200
    assert after.components["data_siphon"] == -1000


def test_W3_UNDO_repays_the_approach(engine: Engine) -> None:
    start = rich(player=(2, 2), exit=(5, 5), owned="undo")
    after = engine.play(start, UP, ACTION["undo"])
    assert after.components["distance_shaping"] == -50
    assert after.state["closestApproach"] == 6


@pytest.mark.parametrize("action", [UP, RIGHT, SIPHON, WAIT])
def test_W3_doing_and_undoing_earns_nothing_but_the_costs(engine: Engine, action: int) -> None:
    start = rich(
        owned="undo wait row",
        dataSiphons=1,
        resources=[pickup(3, 2), credits(2, 1, 3)],
        enemies=[virus(2, 4, hp=1, frozen=True)],
        blocks=[data(1, 2, points=4), program(2, 1, "warp")],
    )
    first = engine.play(start, action)
    second = engine.play(first.state, ACTION["undo"])
    both = {name: first.components[name] + second.components[name] for name in REWARD_NAMES}
    paid = {"step_penalty": -20, "resource_gain": -50}
    kept = {name: value for name, value in both.items() if value and name != "siphon_quality"}
    assert kept == paid

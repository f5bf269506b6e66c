"""Chapter E: the enemy turn, in the order in which it happens."""

import pytest

from .builders import (
    UP,
    WAIT,
    Entry,
    Json,
    Place,
    at,
    coming,
    cryptog,
    daemon,
    data,
    enemy,
    glitch,
    kinds,
    only,
    place_of,
    places,
    state,
    virus,
)
from .engines import Engine, Outcome
from .reference import randomness as site
from .reference.board import ENEMIES, MAX_HP
from .reference.randomness import word

NEVER = 1000


def wait(engine: Engine, **fields: Json) -> Outcome:
    """The outcome of an enemy turn around a player that stays where it is; event 1."""
    still = {"player": (0, 0), "owned": "wait", "energy": 1, "nextScheduledTaskTurn": NEVER}
    return engine.play(state(**(still | fields)), WAIT)


def moved_to(engine: Engine, *enemies: Entry, **fields: Json) -> list[Place]:
    """Where enemies stand after one enemy turn."""
    return places(wait(engine, enemies=list(enemies), **fields).state["enemies"])


def seeds_with_step(of: int, cell: int, count: int = 99) -> dict[int, int]:
    """For every choice of ``of`` a seed whose round-0 STEP word of the cell picks it, as event 1."""
    chosen = {word(seed, 1, site.STEP, cell) * of >> 32: seed for seed in range(count)}
    assert len(chosen) == of
    return chosen


def walls(*open_cells: Place) -> list[Entry]:
    """Blocks on every cell that is not named."""
    return [data(r, c) for r in range(6) for c in range(6) if (r, c) not in open_cells]


def test_E1_with_STEP_on_nothing_happens_but_STEP_going_off(engine: Engine) -> None:
    start = state(
        player=(2, 2),
        owned="wait",
        energy=1,
        stepActive=True,
        turn=4,
        nextScheduledTaskTurn=0,
        pendingSiphonTransmissions=3,
        enemies=[virus(2, 3, stunned=True, disabledTurns=2), daemon(5, 5)],
        transmissions=[coming("virus", 0, 0, turns=1)],
        exit=(0, 5),
    )
    before, after = engine.complete(start), engine.play(start, WAIT).state
    untouched = ("enemies", "transmissions", "turn", "nextScheduledTaskTurn", "pendingSiphonTransmissions")
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    assert after["stepActive"] is False
    assert after["player"]["hp"] == 3


def test_E2_turn_plus_1(engine: Engine) -> None:
    assert wait(engine, turn=41).state["turn"] == 42


@pytest.mark.parametrize("kind", ENEMIES)
def test_E3_a_transmission_at_0_becomes_its_enemy(engine: Engine, kind: str) -> None:
    origin = {"spawnedFromSiphon": True, "isFromScheduledTask": True}
    after = wait(engine, transmissions=[coming(kind, 3, 4, turns=1, **origin), coming(kind, 5, 1, turns=2)]).state
    seen = {"lastKnownRow": 3, "lastKnownCol": 4} if kind == "cryptog" else {}
    # Disabled 1 as it arrived, so it neither moved nor attacked, and E12 has counted that turn down.
    arrived = {"row": 3, "col": 4, "type": kind, "hp": MAX_HP[kind], "stunned": False, "disabledTurns": 0}
    assert only(after["enemies"]) == arrived | origin | seen
    assert [(place_of(entry), entry["turnsRemaining"]) for entry in after["transmissions"]] == [((5, 1), 1)]


def test_E3_an_arriving_enemy_next_to_the_player_does_not_attack_yet(engine: Engine) -> None:
    first = wait(engine, transmissions=[coming("virus", 0, 1, turns=1)], energy=2)
    assert first.state["player"]["hp"] == 3
    assert engine.play(first.state, WAIT).state["player"]["hp"] == 2


def test_E3_a_transmission_with_0_turns_arrives_too(engine: Engine) -> None:
    assert kinds(wait(engine, transmissions=[coming("glitch", 3, 4, turns=0)]).state["enemies"]) == {(3, 4): "glitch"}


def test_E3_siphoned_cells_resources_and_pickups_stay_under_it(engine: Engine) -> None:
    under = [{"row": 3, "col": 4, "credits": 2, "energy": 0, "dataSiphon": True}]
    after = wait(engine, transmissions=[coming("virus", 3, 4, turns=1)], resources=under, siphoned=((3, 4),)).state
    assert after["resources"] == under
    assert places(after["siphoned"]) == [(3, 4)]


@pytest.mark.parametrize("seed", range(8))
def test_E4_enemies_act_in_ascending_word_order(engine: Engine, seed: int) -> None:
    # A corridor with one free cell, (0,2), between two daemons' ways: who acts first takes it.
    corridor = walls((0, 0), (0, 1), (0, 2), (0, 3), (1, 2))
    after = wait(engine, seed=seed, blocks=corridor, enemies=[daemon(0, 3), daemon(1, 2, hp=1)], exit=(0, 0))
    side_first = word(seed, 1, site.ORDER, 8) < word(seed, 1, site.ORDER, 3)
    assert at(after.state["enemies"], 0, 2)["hp"] == (1 if side_first else 3)


@pytest.mark.parametrize("seed", range(8))
def test_E4_the_second_round_has_a_fresh_order(engine: Engine, seed: int) -> None:
    # Two viruses reach (0,3) and (1,2) in round 0 and compete for (0,2) in round 1.
    corridor = walls((0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 2))
    after = wait(engine, seed=seed, blocks=corridor, enemies=[virus(0, 4), virus(2, 2, hp=1)], exit=(0, 0))
    # In round 1 the words are those of the cells in which they stand by then.
    side_first = word(seed, 1, site.ORDER, 36 + 8) < word(seed, 1, site.ORDER, 36 + 3)
    assert at(after.state["enemies"], 0, 2)["hp"] == (1 if side_first else 2)


def test_E4_without_a_virus_there_is_one_round(engine: Engine) -> None:
    assert moved_to(engine, daemon(0, 5), glitch(0, 3)) == [(0, 2), (0, 4)]


def test_E4_in_the_second_round_only_viruses_act(engine: Engine) -> None:
    assert moved_to(engine, daemon(0, 5), virus(5, 0)) == [(0, 4), (3, 0)]


def test_E4_a_disabled_virus_still_makes_two_rounds_for_the_others(engine: Engine) -> None:
    assert moved_to(engine, virus(5, 5, frozen=True), virus(0, 5), exit=(5, 0)) == [(0, 3), (5, 5)]


def test_E4_disabled_and_stunned_enemies_skip(engine: Engine) -> None:
    assert moved_to(engine, daemon(0, 5, disabledTurns=1), daemon(5, 0, stunned=True)) == [(0, 5), (5, 0)]
    next_to_it = wait(engine, enemies=[daemon(0, 1, disabledTurns=1), virus(1, 0, stunned=True)])
    assert next_to_it.state["player"]["hp"] == 3


def test_E4_an_enemy_that_has_attacked_skips_the_second_round(engine: Engine) -> None:
    assert wait(engine, enemies=[virus(0, 1)]).state["player"]["hp"] == 2


def test_E4_a_virus_may_walk_in_the_first_round_and_attack_in_the_second(engine: Engine) -> None:
    after = wait(engine, enemies=[virus(0, 2)]).state
    assert after["player"]["hp"] == 2
    assert places(after["enemies"]) == [(0, 1)]


@pytest.mark.parametrize("kind", ENEMIES)
def test_E5_an_orthogonal_neighbour_attacks_and_stays(engine: Engine, kind: str) -> None:
    after = wait(engine, player=(2, 2), enemies=[enemy(kind, 3, 2)])
    assert after.state["player"]["hp"] == 2
    assert places(after.state["enemies"]) == [(3, 2)]
    assert after.rewards["damage_penalty"] == -1000


def test_E5_a_diagonal_neighbour_does_not_attack(engine: Engine) -> None:
    after = wait(engine, player=(2, 2), enemies=[daemon(3, 3)]).state
    assert after["player"]["hp"] == 3
    assert place_of(only(after["enemies"])) in [(2, 3), (3, 2)]


def test_E5_an_enemy_on_a_block_attacks_and_so_does_one_beside_a_player_on_a_block(engine: Engine) -> None:
    blocks = [data(2, 2), data(3, 2)]
    assert wait(engine, player=(2, 2), enemies=[glitch(3, 2)], blocks=blocks).state["player"]["hp"] == 2


def test_E5_hp_does_not_fall_below_0_and_the_turn_runs_to_its_end(engine: Engine) -> None:
    after = wait(
        engine,
        player=(2, 2),
        hp=1,
        enemies=[daemon(3, 2), daemon(1, 2), daemon(2, 3), daemon(5, 5, stunned=True), virus(0, 5, disabledTurns=4)],
        transmissions=[coming("virus", 0, 0, turns=1)],
        nextScheduledTaskTurn=1,
        scheduledTaskInterval=6,
        pendingSiphonTransmissions=2,
        exit=(5, 0),
    )
    assert after.death
    assert after.state["player"]["hp"] == 0
    assert at(after.state["enemies"], 0, 0)["type"] == "virus"
    origins = [entry["isFromScheduledTask"] for entry in after.state["transmissions"]]
    assert sorted(origins) == [False, False, True]
    assert after.state["turn"] == 1
    assert after.state["nextScheduledTaskTurn"] == 7
    assert at(after.state["enemies"], 5, 5)["stunned"] is False
    assert at(after.state["enemies"], 0, 5)["disabledTurns"] == 3


def test_E6_one_cell_along_the_shortest_path(engine: Engine) -> None:
    # The only way from (2,0) to (0,0) is around the wall in row 1.
    wall = [data(1, c) for c in range(5)]
    assert moved_to(engine, daemon(2, 0), blocks=wall) == [(2, 1)]


def test_E6_a_glitch_ignores_blocks(engine: Engine) -> None:
    wall = [data(1, c) for c in range(5)]
    assert moved_to(engine, glitch(2, 0), blocks=wall) == [(1, 0)]


def test_E6_enemies_and_transmissions_are_obstacles(engine: Engine) -> None:
    frozen = daemon(0, 2, frozen=True)
    assert moved_to(engine, daemon(0, 3), frozen) == [(0, 2), (1, 3)]
    after = wait(engine, enemies=[daemon(0, 3)], transmissions=[coming("virus", 0, 2)])
    assert places(after.state["enemies"]) == [(1, 3)]


def test_E6_the_players_cell_ends_the_path_even_where_it_is_a_block(engine: Engine) -> None:
    assert moved_to(engine, daemon(0, 3), player=(0, 0), blocks=[data(0, 0)]) == [(0, 2)]


def test_E6_every_first_step_of_every_shortest_path_is_a_candidate(engine: Engine) -> None:
    # From (2,2) to (0,0): down and left, in direction order.
    for choice, seed in seeds_with_step(2, 14).items():
        assert moved_to(engine, daemon(2, 2), seed=seed) == [[(1, 2), (2, 1)][choice]]


def test_E6_a_step_away_is_a_candidate_where_the_way_leads_around(engine: Engine) -> None:
    # Behind the block in (2,3) the ways up and down are equally long; left is closed, right is longer.
    for choice, seed in seeds_with_step(2, 16).items():
        place = [(3, 4), (1, 4)][choice]
        assert moved_to(engine, daemon(2, 4), player=(2, 2), blocks=[data(2, 3)], seed=seed, exit=(0, 0)) == [place]


def test_E6_the_word_is_that_of_the_round_and_of_the_cell_it_moves_from(engine: Engine) -> None:
    # A virus in (3,3) moves twice: the second choice is drawn at 36 + its cell by then.
    for seed in range(12):
        first = [(2, 3), (3, 2)][word(seed, 1, site.STEP, 21) * 2 >> 32]
        cell = 6 * first[0] + first[1]
        down, left = (first[0] - 1, first[1]), (first[0], first[1] - 1)
        second = [down, left][word(seed, 1, site.STEP, 36 + cell) * 2 >> 32]
        assert moved_to(engine, virus(3, 3), seed=seed) == [second]


@pytest.mark.parametrize("seed", range(4))
def test_E6_cryptog_prefers_hidden_candidates(engine: Engine, seed: int) -> None:
    # From (3,1), down leads to (2,1), hidden, and left to (3,0), in the player's column.
    assert moved_to(engine, cryptog(3, 1), seed=seed) == [(2, 1)]
    # A daemon has both.
    both = {moved_to(engine, daemon(3, 1), seed=other)[0] for other in range(8)}
    assert both == {(2, 1), (3, 0)}


def test_E6_cryptog_with_no_hidden_candidate_has_them_all(engine: Engine) -> None:
    # From (1,1) both candidates, (0,1) and (1,0), are in the player's row or column.
    for choice, seed in seeds_with_step(2, 7).items():
        assert moved_to(engine, cryptog(1, 1), seed=seed) == [[(0, 1), (1, 0)][choice]]


def test_E6_cryptog_draws_among_its_hidden_candidates(engine: Engine) -> None:
    for choice, seed in seeds_with_step(2, 21).items():
        assert moved_to(engine, cryptog(3, 3), seed=seed) == [[(2, 3), (3, 2)][choice]]


@pytest.mark.parametrize("seed", range(4))
def test_E6_glitch_prefers_candidates_with_a_block(engine: Engine, seed: int) -> None:
    assert moved_to(engine, glitch(3, 3), seed=seed, blocks=[data(3, 2)]) == [(3, 2)]
    assert moved_to(engine, glitch(3, 3), seed=seed, blocks=[data(2, 3)]) == [(2, 3)]


def test_E6_glitch_with_none_or_two_block_candidates_draws(engine: Engine) -> None:
    for choice, seed in seeds_with_step(2, 21).items():
        place = [(2, 3), (3, 2)][choice]
        assert moved_to(engine, glitch(3, 3), seed=seed) == [place]
        assert moved_to(engine, glitch(3, 3), seed=seed, blocks=[data(2, 3), data(3, 2)]) == [place]


def test_E7_without_a_path_as_if_no_cell_were_occupied(engine: Engine) -> None:
    # A frozen enemy plugs the corridor; the one behind it still comes closer.
    corridor = walls((0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5))
    plug = daemon(0, 1, frozen=True)
    after = moved_to(engine, plug, daemon(0, 5), blocks=corridor, exit=(0, 0))
    assert after == [(0, 1), (0, 4)]


def test_E7_occupied_candidates_are_dropped(engine: Engine) -> None:
    # Two equal ways into the closed corner; the one through (1,2) is occupied, so (2,1) is left.
    plugs = [daemon(0, 1, frozen=True), daemon(1, 0, frozen=True), daemon(1, 2, frozen=True)]
    for seed in range(4):
        assert (2, 1) in moved_to(engine, daemon(2, 2), *plugs, seed=seed)


def test_E7_draws_and_prefers_as_E6_does(engine: Engine) -> None:
    plugs = [daemon(0, 1, frozen=True), daemon(1, 0, frozen=True)]
    for choice, seed in seeds_with_step(2, 14).items():
        assert [(1, 2), (2, 1)][choice] in moved_to(engine, daemon(2, 2), *plugs, seed=seed)
    for seed in range(4):
        assert (2, 1) in moved_to(engine, cryptog(3, 1), *plugs, seed=seed)
        assert (3, 2) in moved_to(engine, glitch(3, 3), *plugs, seed=seed, blocks=[data(3, 2)])


def test_E8_where_no_way_exists_the_nearest_open_neighbour(engine: Engine) -> None:
    # The player's corner is walled off for good.
    wall = [data(0, 1), data(1, 0)]
    assert moved_to(engine, daemon(0, 3), blocks=wall) == [(0, 2)]
    # Ties in direction order: from (3,3), down comes before left.
    assert moved_to(engine, daemon(3, 3), blocks=wall) == [(2, 3)]
    # It goes away from the player where nothing else is open.
    assert moved_to(engine, daemon(0, 3), blocks=[*wall, data(0, 2), data(1, 3)]) == [(0, 4)]


def test_E8_where_all_candidates_of_E7_are_occupied(engine: Engine) -> None:
    # (0,1) is the only way in, and it is plugged right in front of the enemy in (0,2).
    plug = daemon(0, 1, frozen=True)
    after = moved_to(engine, plug, daemon(0, 2), blocks=[data(1, 0), data(1, 1)])
    assert after == [(0, 1), (1, 2)]


def test_E8_obeys_blocks_and_occupancy(engine: Engine) -> None:
    plugs = [daemon(0, 2, frozen=True), daemon(1, 3, frozen=True)]
    wall = [data(0, 1), data(1, 0)]
    after = moved_to(engine, *plugs, daemon(0, 3), blocks=wall)
    assert after == [(0, 2), (0, 4), (1, 3)]
    signal = {"transmissions": [coming("virus", 0, 4)]}
    assert moved_to(engine, *plugs, daemon(0, 3), blocks=wall, **signal) == [(0, 2), (0, 3), (1, 3)]


def test_E8_with_no_open_neighbour_it_stays(engine: Engine) -> None:
    assert moved_to(engine, daemon(3, 3), blocks=[data(2, 3), data(4, 3), data(3, 2), data(3, 4)]) == [(3, 3)]


def test_E9_a_cryptog_that_comes_into_view_is_seen(engine: Engine) -> None:
    # From (1,1) it must enter the player's row or column.
    moved = only(wait(engine, enemies=[cryptog(1, 1, lastKnownRow=5, lastKnownCol=5)]).state["enemies"])
    assert (moved["lastKnownRow"], moved["lastKnownCol"]) == place_of(moved)


def test_E9_a_cryptog_that_stays_hidden_is_not(engine: Engine) -> None:
    moved = only(wait(engine, enemies=[cryptog(4, 4, lastKnownRow=5, lastKnownCol=5)]).state["enemies"])
    assert place_of(moved) != (4, 4)
    assert (moved["lastKnownRow"], moved["lastKnownCol"]) == (5, 5)


def test_E9_a_cryptog_that_does_not_move_is_not(engine: Engine) -> None:
    beside = only(wait(engine, enemies=[cryptog(0, 1, lastKnownRow=5, lastKnownCol=5)]).state["enemies"])
    assert (beside["lastKnownRow"], beside["lastKnownCol"]) == (5, 5)
    frozen = only(wait(engine, enemies=[cryptog(0, 3, frozen=True, lastKnownRow=5, lastKnownCol=5)]).state["enemies"])
    assert (frozen["lastKnownRow"], frozen["lastKnownCol"]) == (5, 5)


def test_E9_also_after_a_move_by_E8(engine: Engine) -> None:
    wall = [data(0, 1), data(1, 0)]
    moved = only(wait(engine, blocks=wall, enemies=[cryptog(0, 3, lastKnownRow=5, lastKnownCol=5)]).state["enemies"])
    assert place_of(moved) == (0, 2) == (moved["lastKnownRow"], moved["lastKnownCol"])


@pytest.mark.parametrize(("turn", "spawned"), [(6, 0), (7, 1), (8, 1)])
def test_E10_when_the_turn_reaches_the_scheduled_one(engine: Engine, turn: int, spawned: int) -> None:
    after = wait(engine, turn=turn, nextScheduledTaskTurn=8, scheduledTaskInterval=5).state
    assert len(after["transmissions"]) == spawned
    assert after["nextScheduledTaskTurn"] == (turn + 1 + 5 if spawned else 8)


@pytest.mark.parametrize("seed", range(6))
def test_E10_one_scheduled_transmission_by_C6(engine: Engine, seed: int) -> None:
    made = only(wait(engine, nextScheduledTaskTurn=1, seed=seed).state["transmissions"])
    hidden = [6 * r + c for r in range(1, 6) for c in range(1, 6)]
    cell = min(hidden, key=lambda cell: word(seed, 1, site.SCHEDULE_CELL, cell))
    assert made == {
        "row": cell // 6,
        "col": cell % 6,
        "turnsRemaining": 1,
        "enemyType": ENEMIES[word(seed, 1, site.SCHEDULE_TYPE, 0) * 4 >> 32],
        "isFromScheduledTask": True,
        "spawnedFromSiphon": False,
    }


def test_E10_not_while_CALM_is_on(engine: Engine) -> None:
    after = wait(engine, nextScheduledTaskTurn=1, scheduledTasksDisabled=True).state
    assert after["transmissions"] == []
    assert after["nextScheduledTaskTurn"] == 1


def test_E10_the_schedule_goes_on_when_it_found_no_cell(engine: Engine) -> None:
    after = wait(engine, blocks=walls((0, 0)), exit=(0, 0), nextScheduledTaskTurn=1, scheduledTaskInterval=9).state
    assert after["transmissions"] == []
    assert after["nextScheduledTaskTurn"] == 10


def test_E10_turns_are_compared_unsigned(engine: Engine) -> None:
    late = wait(engine, turn=2**31, nextScheduledTaskTurn=5)
    assert len(late.state["transmissions"]) == 1
    early = wait(engine, turn=5, nextScheduledTaskTurn=2**31 + 1)
    assert early.state["transmissions"] == []


def test_E10_comes_after_the_movement(engine: Engine) -> None:
    # The daemon leaves (0,2), which is then the only empty cell.
    corridor = walls((0, 0), (0, 1), (0, 2))
    after = wait(engine, blocks=corridor, enemies=[daemon(0, 2)], exit=(0, 0), nextScheduledTaskTurn=1).state
    assert places(after["enemies"]) == [(0, 1)]
    assert places(after["transmissions"]) == [(0, 2)]


@pytest.mark.parametrize("seed", range(4))
def test_E11_pending_siphon_spawns_come_after_the_scheduled_one(engine: Engine, seed: int) -> None:
    after = wait(engine, seed=seed, nextScheduledTaskTurn=1, pendingSiphonTransmissions=2).state
    hidden = {6 * r + c for r in range(1, 6) for c in range(1, 6)}
    first = min(hidden, key=lambda cell: word(seed, 1, site.SCHEDULE_CELL, cell))
    expected = {first: (False, True)}
    for j in range(2):
        free = hidden - set(expected)
        expected[min(free, key=lambda cell: word(seed, 1, site.SIPHON_CELL, 36 * j + cell))] = (True, False)
    made = {
        6 * entry["row"] + entry["col"]: (entry["spawnedFromSiphon"], entry["isFromScheduledTask"])
        for entry in after["transmissions"]
    }
    assert made == expected
    assert after["pendingSiphonTransmissions"] == 0
    assert all(entry["turnsRemaining"] == 1 for entry in after["transmissions"])


def test_E11_also_while_CALM_is_on(engine: Engine) -> None:
    after = wait(engine, scheduledTasksDisabled=True, pendingSiphonTransmissions=3).state
    assert len(after["transmissions"]) == 3
    assert after["pendingSiphonTransmissions"] == 0


def test_E12_disabled_counts_down_and_stun_ends(engine: Engine) -> None:
    after = wait(engine, enemies=[daemon(5, 5, disabledTurns=3, stunned=True), daemon(5, 3, stunned=True)], exit=(5, 0))
    assert [(entry["disabledTurns"], entry["stunned"]) for entry in after.state["enemies"]] == [(0, False), (2, False)]


def test_E_the_turn_of_a_move_is_played_around_the_new_cell(engine: Engine) -> None:
    after = engine.play(state(player=(2, 2), enemies=[daemon(4, 2, hp=1)], nextScheduledTaskTurn=NEVER), 3)
    assert place_of(after.state["player"]) == (2, 3)
    assert place_of(only(after.state["enemies"])) in [(3, 2), (4, 3)]
    attacked = engine.play(state(player=(2, 1), enemies=[daemon(3, 2)], nextScheduledTaskTurn=NEVER), UP)
    assert attacked.state["player"]["hp"] == 2

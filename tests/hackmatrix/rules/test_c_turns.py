"""Chapter C: turns, stage completion, the end of an episode, and spawning."""

from typing import Any

import pytest

from hackmatrix import rules

from .builders import (
    APPLICABLE,
    LEFT,
    RIGHT,
    SIPHON,
    UP,
    WAIT,
    Json,
    at,
    coming,
    daemon,
    data,
    glitch,
    only,
    pickup,
    place_of,
    places,
    run,
    state,
    virus,
)
from .engines import Engine, StateDict
from .reference import randomness as site
from .reference.board import ACTION, ENEMIES, Game, Transmission, load
from .reference.game import REWARD_NAMES
from .reference.randomness import Draws, word
from .reference.stage import SIPHON_WAVE, in_line_of_fire, spawn

ENDLESS = 1000  # a scheduled turn that never comes


@pytest.mark.parametrize("action", [SIPHON, RIGHT, *range(rules.FIRST_PROGRAM, rules.NUM_ACTIONS)])
def test_C1_an_invalid_action_changes_nothing_and_terminates(engine: Engine, action: int) -> None:
    start = engine.complete(state(player=(2, 5), enemies=[daemon(4, 4)], pendingSiphonTransmissions=3, seed=8))
    after = engine.play(start, action)
    assert after.state == start
    assert after.components == dict.fromkeys(REWARD_NAMES, 0)
    assert after.terminated
    assert after.invalid_action
    assert not (after.death)
    assert not (after.victory)
    assert not (after.stage_complete)


@pytest.mark.parametrize("action", [-1, rules.NUM_ACTIONS, rules.NUM_ACTIONS + 1, 255, -(2**31), 2**31 - 1])
def test_C1_an_action_outside_0_to_27_is_invalid_in_the_jitted_step(engine: Engine, action: int) -> None:
    start = engine.complete(state(player=(2, 2)))
    after = engine.play(start, action)
    assert after.state == start
    assert after.invalid_action
    assert after.terminated


def test_C1_after_an_invalid_action_a_caller_may_go_on(engine: Engine) -> None:
    start = state(player=(2, 2), enemies=[daemon(5, 4)], seed=3)
    assert engine.play(start, SIPHON, UP) == engine.play(start, UP)


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        (UP, {}),
        (UP, {"enemies": [daemon(5, 2, frozen=True)]}),
        (SIPHON, {"dataSiphons": 1}),
        (WAIT, {"owned": "wait", "energy": 1}),
    ],
    ids=["move", "attack", "siphon", "wait"],
)
def test_C2_moves_attacks_siphon_and_WAIT_end_the_turn(engine: Engine, action: int, fields: dict[str, Any]) -> None:
    after = engine.play(state(player=(2, 2), turn=6, **fields), action).state
    assert after["turn"] == 7
    assert after["eventNumber"] == 1
    assert after["history"] is not None


@pytest.mark.parametrize("name", [name for name in APPLICABLE if name != "wait"])
def test_C2_every_other_program_leaves_the_turn_with_the_player(engine: Engine, name: str) -> None:
    # The enemies and transmissions of an enemy turn would move, arrive and count.
    watch = {"transmissions": [coming("virus", 0, 0, turns=1)]} if name != "delay" else {}
    start, action = run(name, **(APPLICABLE[name] | watch), turn=6, pendingSiphonTransmissions=2)
    if name == "undo":
        start["history"]["turn"] = 6
        start["history"]["transmissions"] = start["transmissions"]
        start["history"]["pendingSiphonTransmissions"] = 2
    after = engine.play(start, action).state
    assert after["turn"] == 6
    assert after["pendingSiphonTransmissions"] == 2
    assert after["eventNumber"] == 1
    if name not in ("delay", "warp"):
        assert only(after["transmissions"])["turnsRemaining"] == 1


def doorstep(**fields: Json) -> StateDict:
    """A player one step below the exit."""
    return state(**({"player": (4, 5), "exit": (5, 5), "closestApproach": 1} | fields))


@pytest.mark.parametrize(("hp", "then"), [(1, 2), (2, 3), (3, 3)])
def test_C3_completion_by_a_move_heals_and_brings_the_next_stage(engine: Engine, hp: int, then: int) -> None:
    after = engine.play(doorstep(hp=hp, stage=2), UP)
    assert after.stage_complete
    assert not after.terminated
    assert after.state["stage"] == 3
    assert after.state["player"]["hp"] == then
    assert after.state["turn"] == 0


def test_C3_no_enemy_turn_follows(engine: Engine) -> None:
    start = doorstep(hp=2, enemies=[virus(5, 4)], transmissions=[coming("daemon", 0, 2, turns=1)])
    after = engine.play(start, UP).state
    assert after["player"]["hp"] == 3
    assert place_of(only(after["enemies"])) == (5, 4)
    assert at(after["transmissions"], 0, 2)["turnsRemaining"] == 1


def test_C3_completion_by_WARP(engine: Engine) -> None:
    start, action = run("warp", player=(2, 2), stage=4, hp=1, enemies=[daemon(5, 5)], exit=(5, 5))
    after = engine.play(start, action)
    assert after.stage_complete
    assert place_of(after.state["player"]) == (5, 5)
    assert after.state["stage"] == 5
    assert after.state["player"]["hp"] == 2
    assert after.state["enemies"] == []
    assert after.rewards["kills"] == 300
    assert after.rewards["stage_completion"] == 8000


def test_C3_an_attack_into_the_exit_completes_nothing(engine: Engine) -> None:
    after = engine.play(doorstep(enemies=[daemon(5, 5, frozen=True)]), UP)
    assert not after.stage_complete
    assert place_of(after.state["player"]) == (4, 5)


def test_C3_standing_on_the_exit_completes_nothing(engine: Engine) -> None:
    start, action = run("step", player=(5, 5), exit=(5, 5))
    assert not engine.play(start, action).stage_complete
    attack = engine.play(state(player=(5, 5), exit=(5, 5), enemies=[daemon(5, 3, frozen=True)]), LEFT)
    assert not attack.stage_complete
    assert attack.state["stage"] == 1


def test_C3_after_stage_8_the_game_is_won_and_the_board_stays(engine: Engine) -> None:
    fields: dict[str, Any] = {
        "stage": 8,
        "hp": 2,
        "blocks": [data(1, 1)],
        "siphoned": ((1, 1), (0, 3)),
        "enemies": [virus(5, 4, stunned=True)],
        "transmissions": [coming("glitch", 0, 0, turns=1)],
        "resources": [pickup(0, 5)],
        "showActivated": True,
        "stepActive": True,
        "turn": 9,
        "killsSinceHistory": 3,
        "history": state(player=(0, 2), stage=8),
    }
    start = engine.complete(doorstep(**fields))
    after = engine.play(start, UP)
    assert after.victory
    assert after.terminated
    assert after.stage_complete
    assert not after.death
    expected = start | {
        "stage": 9,
        "eventNumber": 1,
        "player": start["player"] | {"row": 5, "hp": 3},
        # The winning move records first, and starts the counts.
        "history": {key: value for key, value in start.items() if key not in NOT_RECORDED},
        "killsSinceHistory": 0,
    }
    assert after.state == expected


NOT_RECORDED = {"history", "seed", "eventNumber", "killsSinceHistory", "pickupsSinceHistory"}


def test_C3_a_win_by_WARP_keeps_the_history_and_counts_its_kill(engine: Engine) -> None:
    start, action = run(
        "warp",
        player=(2, 2),
        stage=8,
        enemies=[daemon(5, 5)],
        history=state(player=(1, 1), stage=8),
        killsSinceHistory=2,
    )
    after = engine.play(start, action)
    assert after.victory
    assert after.state["killsSinceHistory"] == 3
    assert place_of(after.state["history"]["player"]) == (1, 1)


def test_C4_at_hp_0_the_episode_ends_and_nothing_is_valid(engine: Engine) -> None:
    dying = engine.play(state(player=(0, 0), hp=1, owned="wait", energy=1, enemies=[daemon(0, 1)]), WAIT)
    assert dying.death
    assert dying.terminated
    assert not dying.invalid_action
    assert not dying.victory
    assert engine.mask(dying.state) == [False] * rules.NUM_ACTIONS
    again = engine.play(dying.state, UP)
    assert again.invalid_action
    assert again.terminated
    assert not again.death
    assert again.state == dying.state


def test_C4_at_stage_9_nothing_is_valid(engine: Engine) -> None:
    won = state(player=(2, 2), stage=9, scheduledTaskInterval=4, dataSiphons=3)
    assert engine.mask(won) == [False] * rules.NUM_ACTIONS
    again = engine.play(won, UP)
    assert again.invalid_action
    assert not again.victory


def test_C4_the_engine_never_truncates(engine: Engine) -> None:
    walk = state(player=(2, 2), scheduledTasksDisabled=True)
    assert not engine.play(walk, *([UP, 1] * 150)).terminated


def test_C5_what_carries_over_between_stages(engine: Engine) -> None:
    fields = {"score": 17, "credits": 21, "energy": 9, "dataSiphons": 4, "attackDamage": 2}
    after = engine.play(doorstep(**fields, owned="push siph+ hack"), UP).state
    assert {name: after["player"][name] for name in fields} == fields
    assert after["ownedPrograms"] == sorted(ACTION[name] for name in ("push", "siph+", "hack"))


# C6, by way of the pending siphon spawns (E11)


def waiting(pending: int = 1, **fields: Json) -> StateDict:
    """A state whose next turn spawns ``pending`` transmissions around a player that stays in (0,0)."""
    return state(
        **(
            {"player": (0, 0), "owned": "wait", "energy": 1, "pendingSiphonTransmissions": pending}
            | {"nextScheduledTaskTurn": ENDLESS}
            | fields
        )
    )


@pytest.mark.parametrize("seed", range(6))
def test_C6_a_uniform_empty_cell_out_of_the_line_of_fire(engine: Engine, seed: int) -> None:
    start = waiting(
        seed=seed, blocks=[data(0, 3), data(4, 4)], enemies=[glitch(2, 0, frozen=True), daemon(3, 3, frozen=True)]
    )
    made = only(engine.play(start, WAIT).state["transmissions"])
    in_fire = {(0, 1), (0, 2), (1, 0)}
    taken = {(0, 0), (0, 3), (4, 4), (2, 0), (3, 3)}
    free = [(r, c) for r in range(6) for c in range(6) if (r, c) not in in_fire | taken]
    cell = min(free, key=lambda place: word(seed, 1, site.SIPHON_CELL, 6 * place[0] + place[1]))
    kind = ENEMIES[word(seed, 1, site.SIPHON_TYPE, 0) * 4 >> 32]
    assert (place_of(made), made["enemyType"]) == (cell, kind)


def test_C6_blocks_and_enemies_stop_the_line_of_fire_transmissions_do_not() -> None:
    game = Game(player=0, transmissions={1: Transmission("virus", 3)})
    assert in_line_of_fire(game) == {1, 2, 3, 4, 5, 6, 12, 18, 24, 30}
    stopped = load(waiting(enemies=[daemon(3, 0)], blocks=[data(0, 2)], transmissions=[coming("virus", 0, 1)]))
    assert in_line_of_fire(stopped) == {1, 2, 6, 12, 18}


@pytest.mark.parametrize("seed", range(8))
def test_C6_cells_behind_a_transmission_are_still_in_the_line_of_fire(engine: Engine, seed: int) -> None:
    # All cells outside row 0 and column 0 hold blocks; (5,0) hides behind an enemy, (0,5) behind a transmission.
    blocks = [data(r, c) for r in range(1, 6) for c in range(1, 6)]
    start = waiting(
        seed=seed,
        exit=(0, 5),
        blocks=blocks,
        enemies=[daemon(4, 0, frozen=True)],
        transmissions=[coming("virus", 0, 4)],
    )
    made = [entry for entry in engine.play(start, WAIT).state["transmissions"] if entry["spawnedFromSiphon"]]
    assert places(made) == [(5, 0)]


@pytest.mark.parametrize("seed", range(8))
def test_C6_without_a_hidden_cell_any_empty_one(engine: Engine, seed: int) -> None:
    blocks = [data(r, c) for r in range(1, 6) for c in range(1, 6)]
    made = only(engine.play(waiting(seed=seed, exit=(0, 5), blocks=blocks), WAIT).state["transmissions"])
    fire = [1, 2, 3, 4, 5, 6, 12, 18, 24, 30]
    cell = min(fire, key=lambda cell: word(seed, 1, site.SIPHON_CELL, cell))
    assert 6 * made["row"] + made["col"] == cell


def test_C6_each_is_placed_before_the_next_is_drawn(engine: Engine) -> None:
    made = engine.play(waiting(pending=7, seed=77), WAIT).state["transmissions"]
    game = Game(player=0, seed=77)
    taken: dict[int, str] = {}
    for j in range(7):
        free = set(range(36)) - {0, 1, 2, 3, 4, 5, 6, 12, 18, 24, 30} - set(taken)
        cell = min(free, key=lambda cell: word(77, 1, site.SIPHON_CELL, 36 * j + cell))
        taken[cell] = ENEMIES[word(77, 1, site.SIPHON_TYPE, j) * 4 >> 32]
    assert {6 * entry["row"] + entry["col"]: entry["enemyType"] for entry in made} == taken
    spawn(game, Draws(77, 1), 7, SIPHON_WAVE)
    assert {cell: coming.enemy_type for cell, coming in game.transmissions.items()} == taken


def test_C6_without_an_empty_cell_it_is_dropped_for_good(engine: Engine) -> None:
    blocks = [data(r, c) for r in range(6) for c in range(6) if (r, c) not in [(0, 0), (0, 1), (5, 5)]]
    after = engine.play(waiting(pending=50, blocks=blocks), WAIT).state
    assert places(after["transmissions"]) == [(0, 1), (5, 5)]
    assert after["pendingSiphonTransmissions"] == 0


def test_C6_as_many_as_fit_are_spawned(engine: Engine) -> None:
    after = engine.play(waiting(pending=9999, seed=5), WAIT).state
    assert len(after["transmissions"]) == 35
    assert after["pendingSiphonTransmissions"] == 0
    game = Game(player=0, seed=5)
    spawn(game, Draws(5, 1), 35, SIPHON_WAVE)
    made = {6 * entry["row"] + entry["col"]: entry["enemyType"] for entry in after["transmissions"]}
    assert made == {cell: coming.enemy_type for cell, coming in game.transmissions.items()}

"""Chapter P: the programs, each with its costs, its effect and its exceptions."""

from typing import Any

import pytest

from .builders import (
    APPLICABLE,
    DOWN,
    SIPHON,
    UP,
    WAIT,
    Entry,
    Json,
    at,
    coming,
    credits,
    cryptog,
    daemon,
    data,
    glitch,
    kinds,
    only,
    pickup,
    place_of,
    places,
    program,
    question,
    rich,
    run,
    state,
    virus,
)
from .engines import Engine, Outcome, StateDict
from .reference import randomness as site
from .reference.board import ACTION, COST, ENEMIES, MAX_HP
from .reference.randomness import word

SCHEDULED = {"isFromScheduledTask": True}


def use(engine: Engine, name: str, **fields: Json) -> Outcome:
    """The outcome of one program of a player in (2,2) with 50 credits and 50 energy."""
    return engine.play(*run(name, **fields))


def hp_of(state: StateDict) -> dict[tuple[int, int], int]:
    """Hp of the enemy in each cell."""
    return {place_of(entry): entry["hp"] for entry in state["enemies"]}


@pytest.mark.parametrize("name", [name for name in APPLICABLE if name != "undo"])
def test_P_the_cost_is_paid(engine: Engine, name: str) -> None:
    credits_cost, energy_cost = COST[ACTION[name]]
    player = use(engine, name, **APPLICABLE[name]).state["player"]
    gained = 4 if name == "exch" else 0
    assert (player["credits"], player["energy"]) == (50 - credits_cost, 50 - energy_cost + gained)


@pytest.mark.parametrize("name", ["debug", "row", "col", "hack", "anti-v"])
def test_P_hit_removes_at_0_and_stuns_survivors(engine: Engine, name: str) -> None:
    # On a siphoned block in the player's row and column reach of every one of these programs.
    line = {"blocks": [data(2, 4, siphoned=True), data(4, 2, siphoned=True)], "attackDamage": 1}
    place = (4, 2) if name == "col" else (2, 4)
    survivor = use(engine, name, enemies=[virus(*place)], **line)
    assert only(survivor.state["enemies"])["hp"] == 1
    assert only(survivor.state["enemies"])["stunned"] is True
    assert "kills" not in survivor.rewards
    killed = use(engine, name, enemies=[virus(*place, hp=1)], **line)
    assert killed.state["enemies"] == []
    assert killed.rewards["kills"] == 300
    uncounted = use(engine, name, enemies=[virus(*place, hp=1, **SCHEDULED)], **line)
    assert uncounted.state["enemies"] == []
    assert "kills" not in uncounted.rewards


def shoved(engine: Engine, name: str, *enemies: Entry, **fields: Json) -> list[tuple[int, int]]:
    """Where enemies stand after PUSH or PULL, in row-major order."""
    return places(use(engine, name, **({"player": (2, 2)} | fields), enemies=list(enemies)).state["enemies"])


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ((3, 3), (4, 4)),  # both components: two cells farther
        ((1, 1), (0, 0)),
        ((3, 2), (4, 2)),  # a zero component has no candidate of its own
        ((2, 1), (2, 0)),
        ((5, 2), (5, 2)),  # nowhere on the board
        ((5, 4), (5, 5)),  # both and row are off the board: column only
        ((3, 5), (4, 5)),  # both and column are off the board: row only
        ((0, 0), (0, 0)),
    ],
)
def test_P_PUSH_away_from_the_player(engine: Engine, start: tuple[int, int], end: tuple[int, int]) -> None:
    assert shoved(engine, "push", daemon(*start)) == [end]


def test_P_PUSH_the_farthest_moves_first(engine: Engine) -> None:
    # In line: the far one makes room before the near one moves.
    assert shoved(engine, "push", daemon(3, 2), daemon(4, 2)) == [(4, 2), (5, 2)]
    # At the edge the far one cannot move, so the near one cannot either.
    assert shoved(engine, "push", daemon(4, 2), daemon(5, 2)) == [(4, 2), (5, 2)]


def test_P_PUSH_ties_are_broken_row_major(engine: Engine) -> None:
    # Both would enter (5,5): (4,5) by its row, as its column is at the edge, (5,4) by its column.
    # Both are at distance 5; (4,5) comes first.
    after = use(engine, "push", player=(2, 2), enemies=[virus(4, 5), daemon(5, 4)], exit=(0, 0)).state
    assert kinds(after["enemies"]) == {(5, 5): "virus", (5, 4): "daemon"}


def test_P_PUSH_the_order_is_fixed_before_the_first_moves(engine: Engine) -> None:
    # (3,3) and (4,4): the far one goes to (5,5), then the near one to (4,4); nobody moves twice.
    assert shoved(engine, "push", daemon(3, 3), virus(4, 4), exit=(0, 0)) == [(4, 4), (5, 5)]


def test_P_PUSH_the_chosen_cell_is_not_replaced_when_taken(engine: Engine) -> None:
    # (3,3)'s candidate is (4,4) and nothing else; a transmission there keeps it in place.
    fields: dict[str, Any] = {"transmissions": [coming("virus", 4, 4)]}
    assert shoved(engine, "push", daemon(3, 3), **fields) == [(3, 3)]


def test_P_PUSH_blocks_do_not_stop_it(engine: Engine) -> None:
    assert shoved(engine, "push", virus(3, 2), blocks=[data(4, 2)]) == [(4, 2)]


def test_P_PUSH_moves_disabled_and_stunned_enemies_and_keeps_their_fields(engine: Engine) -> None:
    fields = {"stunned": True, "disabledTurns": 3, "spawnedFromSiphon": True, "isFromScheduledTask": True}
    moved = only(use(engine, "push", enemies=[daemon(3, 3, hp=1, **fields)]).state["enemies"])
    assert moved == {"row": 4, "col": 4, "type": "daemon", "hp": 1} | fields


def test_P_PUSH_leaves_a_cryptogs_last_known_cell(engine: Engine) -> None:
    moved = only(use(engine, "push", enemies=[cryptog(3, 2, lastKnownRow=0, lastKnownCol=5)]).state["enemies"])
    assert place_of(moved) == (4, 2)
    assert (moved["lastKnownRow"], moved["lastKnownCol"]) == (0, 5)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ((5, 5), (4, 4)),
        ((5, 2), (4, 2)),
        ((2, 5), (2, 4)),
        ((0, 5), (1, 4)),
        ((3, 2), (3, 2)),  # the player's cell is no candidate
        ((2, 1), (2, 1)),
        ((3, 3), (2, 3)),  # both leads to the player: row only comes before column only
        ((1, 1), (2, 1)),
        ((4, 3), (3, 2)),
    ],
)
def test_P_PULL_toward_the_player(engine: Engine, start: tuple[int, int], end: tuple[int, int]) -> None:
    assert shoved(engine, "pull", daemon(*start), exit=(0, 0)) == [end]


def test_P_PULL_the_nearest_moves_first(engine: Engine) -> None:
    assert shoved(engine, "pull", daemon(4, 2), daemon(5, 2)) == [(3, 2), (4, 2)]
    assert shoved(engine, "pull", daemon(3, 2), daemon(4, 2)) == [(3, 2), (4, 2)]


def test_P_PULL_ties_are_broken_row_major(engine: Engine) -> None:
    # (3,1) and (3,3) are both at distance 2 and go to (2,1) and (2,3); (4,2) at distance 2 goes to (3,2).
    assert shoved(engine, "pull", daemon(3, 1), daemon(3, 3), daemon(4, 2)) == [(2, 1), (2, 3), (3, 2)]
    # (3,4) and (4,3), both at distance 3, would enter (3,3) and (3,2) or (2,3).
    after = use(engine, "pull", enemies=[virus(3, 4), daemon(4, 3)]).state
    assert kinds(after["enemies"]) == {(2, 3): "virus", (3, 2): "daemon"}
    # (2,4) and (4,2) at distance 2, then (3,5) and (5,3): (3,5) takes (2,4)'s old cell.
    assert shoved(engine, "pull", daemon(2, 4), daemon(3, 5)) == [(2, 3), (2, 4)]


def test_P_PULL_the_chosen_cell_is_not_replaced_when_taken(engine: Engine) -> None:
    assert shoved(engine, "pull", daemon(4, 4), transmissions=[coming("virus", 3, 3)]) == [(4, 4)]


def test_P_PULL_blocks_do_not_stop_it_and_last_known_cells_stay(engine: Engine) -> None:
    hidden = cryptog(5, 4, lastKnownRow=0, lastKnownCol=5)
    moved = only(use(engine, "pull", enemies=[hidden], blocks=[data(4, 3)], exit=(0, 0)).state["enemies"])
    assert place_of(moved) == (4, 3)
    assert (moved["lastKnownRow"], moved["lastKnownCol"]) == (0, 5)


def test_P_CRASH_clears_the_8_neighbours(engine: Engine) -> None:
    near = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2), (3, 3)]
    after = use(
        engine,
        "crash",
        blocks=[data(1, 1), program(1, 2, "push"), question(1, 3, points=3), data(4, 4), data(2, 4)],
        enemies=[glitch(1, 1), daemon(2, 1), daemon(2, 3, **SCHEDULED), daemon(0, 2)],
        transmissions=[coming("virus", 3, 1), coming("virus", 3, 2, **SCHEDULED), coming("virus", 5, 5)],
        exit=(5, 0),
    )
    assert set(places(after.state["blocks"])) == {(4, 4), (2, 4)}
    assert places(after.state["enemies"]) == [(0, 2)]
    assert places(after.state["transmissions"]) == [(5, 5)]
    assert after.rewards["kills"] == 300 * 3
    assert not set(near) & set(places(after.state["enemies"]))
    assert after.state["player"]["score"] == 0
    assert after.state["ownedPrograms"] == [ACTION["crash"]]


def test_P_CRASH_keeps_resources_and_siphoned_flags(engine: Engine) -> None:
    after = use(
        engine,
        "crash",
        blocks=[data(3, 2, siphoned=True), data(2, 3)],
        resources=[credits(3, 2, 2), credits(2, 3, 1), pickup(1, 1)],
        siphoned=((1, 1),),
        centres=((1, 1),),
    ).state
    assert after["blocks"] == []
    assert places(after["siphoned"]) == [(1, 1), (3, 2)]
    assert places(after["resources"]) == [(1, 1), (2, 3), (3, 2)]
    assert places(after["siphonCenters"]) == [(1, 1)]


def test_P_CRASH_leaves_the_players_own_block(engine: Engine) -> None:
    after = use(engine, "crash", blocks=[data(2, 2), data(3, 3)])
    assert places(after.state["blocks"]) == [(2, 2)]


@pytest.mark.parametrize("seed", range(8))
def test_P_WARP_to_a_uniform_enemy_or_transmission(engine: Engine, seed: int) -> None:
    enemies, signals = [daemon(0, 1), virus(4, 4), glitch(3, 0)], [coming("virus", 1, 5), coming("daemon", 5, 2)]
    after = use(engine, "warp", enemies=enemies, transmissions=signals, seed=seed, eventNumber=6)
    targets = places(enemies) + places(signals)
    chosen = min(targets, key=lambda place: word(seed, 7, site.WARP, 6 * place[0] + place[1]))
    assert place_of(after.state["player"]) == chosen
    left = places(after.state["enemies"]) + places(after.state["transmissions"])
    assert sorted(left) == sorted(set(targets) - {chosen})
    assert after.rewards["kills"] == 300


def test_P_WARP_collects_no_pickup_and_may_end_on_a_block(engine: Engine) -> None:
    after = use(engine, "warp", transmissions=[coming("virus", 0, 5)], resources=[pickup(0, 5)])
    assert after.state["player"]["dataSiphons"] == 0
    assert places(after.state["resources"]) == [(0, 5)]
    assert "data_siphon" not in after.rewards
    onto = use(engine, "warp", enemies=[glitch(4, 4)], blocks=[data(4, 4)])
    assert place_of(onto.state["player"]) == place_of(only(onto.state["blocks"])) == (4, 4)


def test_P_WARP_onto_a_scheduled_one_is_no_kill(engine: Engine) -> None:
    after = use(engine, "warp", enemies=[daemon(4, 4, **SCHEDULED)])
    assert after.state["enemies"] == []
    assert "kills" not in after.rewards


@pytest.mark.parametrize("seed", range(6))
def test_P_POLY_each_becomes_a_uniform_other_type(engine: Engine, seed: int) -> None:
    enemies = [virus(0, 0), daemon(1, 4), glitch(3, 3), cryptog(5, 1)]
    after = use(engine, "poly", enemies=enemies, seed=seed).state
    for entry in enemies:
        others = [kind for kind in ENEMIES if kind != entry["type"]]
        kind = others[word(seed, 1, site.POLY, 6 * entry["row"] + entry["col"]) * 3 >> 32]
        became = at(after["enemies"], *place_of(entry))
        assert became["type"] == kind
        assert became["hp"] == MAX_HP[kind]
        assert ("lastKnownRow" in became) is (kind == "cryptog")


def poly_seed(cell: int, kind: str, becomes: str) -> int:
    """The smallest seed with which POLY, as event 1, turns a ``kind`` in ``cell`` into ``becomes``."""
    place = [other for other in ENEMIES if other != kind].index(becomes)
    return next(seed for seed in range(99) if word(seed, 1, site.POLY, cell) * 3 >> 32 == place)


@pytest.mark.parametrize(
    ("kind", "hp", "becomes", "then"),
    [("virus", 1, "daemon", 2), ("daemon", 2, "virus", 1), ("glitch", 1, "cryptog", 1), ("daemon", 1, "glitch", None)],
)
def test_P_POLY_damage_carries_over(engine: Engine, kind: str, hp: int, becomes: str, then: int | None) -> None:
    seed = poly_seed(28, kind, becomes)
    enemies = [{"type": kind, "row": 4, "col": 4, "hp": hp}]
    after = use(engine, "poly", enemies=enemies, seed=seed)
    assert [(entry["type"], entry["hp"]) for entry in after.state["enemies"]] == ([(becomes, then)] if then else [])
    assert after.rewards.get("kills", 0) == (0 if then else 300)


def test_P_POLY_a_scheduled_one_that_dies_is_no_kill(engine: Engine) -> None:
    after = use(engine, "poly", enemies=[daemon(4, 4, hp=1, **SCHEDULED)], seed=poly_seed(28, "daemon", "virus"))
    assert after.state["enemies"] == []
    assert "kills" not in after.rewards


def test_P_POLY_a_new_cryptogs_last_known_cell_is_its_own(engine: Engine) -> None:
    became = only(use(engine, "poly", enemies=[virus(4, 4)], seed=poly_seed(28, "virus", "cryptog")).state["enemies"])
    assert (became["lastKnownRow"], became["lastKnownCol"]) == (4, 4)


def test_P_POLY_stun_disabling_and_origin_stay(engine: Engine) -> None:
    fields = {"stunned": True, "disabledTurns": 4, "spawnedFromSiphon": True, "isFromScheduledTask": True}
    seed = poly_seed(28, "virus", "daemon")
    became = only(use(engine, "poly", enemies=[virus(4, 4, **fields)], seed=seed).state["enemies"])
    assert became == {"row": 4, "col": 4, "type": "daemon", "hp": 3} | fields


def test_P_WAIT_runs_the_enemy_turn(engine: Engine) -> None:
    after = use(engine, "wait", player=(0, 0), enemies=[daemon(0, 5)]).state
    assert place_of(only(after["enemies"])) == (0, 4)
    assert after["turn"] == 1


def test_P_DEBUG_hits_every_enemy_on_a_block(engine: Engine) -> None:
    enemies = [glitch(0, 0), virus(4, 4), daemon(5, 1), daemon(3, 3)]
    after = use(engine, "debug", enemies=enemies, blocks=[data(0, 0), data(4, 4, siphoned=True), question(5, 1)])
    assert hp_of(after.state) == {(0, 0): 1, (4, 4): 1, (5, 1): 2, (3, 3): 3}
    stronger = use(engine, "debug", enemies=enemies, blocks=[data(0, 0), data(5, 1)], attackDamage=2)
    assert hp_of(stronger.state) == {(4, 4): 2, (5, 1): 1, (3, 3): 3}
    assert stronger.rewards["kills"] == 300


def test_P_ROW_hits_the_players_row_past_blocks(engine: Engine) -> None:
    enemies = [daemon(2, 0), daemon(2, 5), daemon(3, 2), daemon(1, 0)]
    after = use(engine, "row", enemies=enemies, blocks=[data(2, 1), data(2, 4)], attackDamage=2)
    assert hp_of(after.state) == {(1, 0): 3, (2, 0): 1, (2, 5): 1, (3, 2): 3}


def test_P_COL_hits_the_players_column_past_blocks(engine: Engine) -> None:
    enemies = [daemon(0, 2), daemon(5, 2), daemon(2, 3), daemon(0, 1)]
    after = use(engine, "col", enemies=enemies, blocks=[data(1, 2)], attackDamage=3)
    assert hp_of(after.state) == {(0, 1): 3, (2, 3): 3}
    assert after.rewards["kills"] == 600


# UNDO


def rewound(engine: Engine, start: StateDict, *actions: int) -> tuple[StateDict, Outcome]:
    """The full form of the start, and the outcome of the actions followed by UNDO."""
    return engine.complete(start), engine.play(start, *actions, ACTION["undo"])


def without(state: StateDict, *keys: str) -> StateDict:
    """The dict without some of its keys."""
    return {key: value for key, value in state.items() if key not in keys}


@pytest.mark.parametrize("action", [UP, SIPHON, WAIT], ids=["move", "siphon", "wait"])
@pytest.mark.parametrize("skipped", [False, True], ids=["", "skipped"])
def test_P_UNDO_brings_the_state_before_the_turn_back_whole(engine: Engine, action: int, skipped: bool) -> None:
    start = rich(
        player=(2, 2),
        owned="undo wait hack",
        dataSiphons=2,
        enemies=[virus(3, 4, hp=1), cryptog(5, 1, lastKnownRow=0, lastKnownCol=0), daemon(2, 3, disabledTurns=2)],
        transmissions=[coming("glitch", 0, 0, turns=1), coming("virus", 0, 4, turns=3)],
        blocks=[data(1, 2, points=4), question(2, 1, program="warp")],
        resources=[credits(3, 2, 3), pickup(5, 0)],
        siphoned=((0, 1),),
        stepActive=skipped,
        nextScheduledTaskTurn=1,
        seed=21,
    )
    before, after = rewound(engine, start, action)
    paid = before["player"] | {"credits": 50 - 1}
    assert after.state == before | {"player": paid, "eventNumber": 2}


def test_P_UNDO_an_attack_is_recorded_too(engine: Engine) -> None:
    before, after = rewound(engine, rich(owned="undo", enemies=[daemon(5, 2, hp=1)]), UP)
    assert after.state["enemies"] == before["enemies"]
    assert after.components["kills"] == -300


def test_P_UNDO_restores_the_credits_of_before_WAITs_and_programs_costs(engine: Engine) -> None:
    start = state(credits=9, energy=9, owned="undo wait exch")
    done = engine.play(start, WAIT, ACTION["exch"], ACTION["undo"]).state["player"]
    assert (done["credits"], done["energy"]) == (9 - 1, 9)


def test_P_UNDO_pays_from_the_restored_credits_not_below_0(engine: Engine) -> None:
    poor = state(player=(2, 2), owned="undo", credits=5, history=state(player=(2, 3), credits=0))
    after = engine.play(poor, ACTION["undo"])
    assert after.state["player"]["credits"] == 0
    assert after.rewards["resource_gain"] == 50 * (0 - 5)


def test_P_UNDO_restores_programs_and_flags(engine: Engine) -> None:
    old = state(player=(2, 3), stepActive=True, showActivated=True, owned="push", attackDamage=2, atkPlusUses=1)
    after = engine.play(rich(owned="undo", history=old, scheduledTasksDisabled=True), ACTION["undo"]).state
    assert after["ownedPrograms"] == [ACTION["push"]]
    assert after["player"]["attackDamage"] == 2
    assert after["stepActive"]
    assert after["showActivated"]
    assert not after["scheduledTasksDisabled"]
    assert after["atkPlusUses"] == 1


def test_P_UNDO_leaves_the_history_empty_and_is_one_deep(engine: Engine) -> None:
    after = engine.play(rich(owned="undo"), UP, DOWN, ACTION["undo"])
    assert place_of(after.state["player"]) == (3, 2)
    assert after.state["history"] is None
    assert not engine.mask(after.state)[ACTION["undo"]]


def test_P_UNDO_the_record_has_neither_history_nor_seed_of_its_own(engine: Engine) -> None:
    start = engine.complete(rich(owned="undo", seed=5, eventNumber=8, history=state(player=(1, 1))))
    record = engine.play(start, UP).state["history"]
    hidden = ("history", "seed", "eventNumber", "killsSinceHistory", "pickupsSinceHistory")
    assert record == without(start, *hidden)


def test_P_UNDO_programs_are_not_recorded(engine: Engine) -> None:
    after = engine.play(rich(owned="siph+ exch"), UP, ACTION["siph+"], ACTION["exch"]).state
    assert place_of(after["history"]["player"]) == (2, 2)
    assert after["history"]["player"]["dataSiphons"] == 0
    assert engine.play(rich(owned="siph+"), ACTION["siph+"]).state["history"] is None


def test_P_UNDO_counts_kills_and_pickups_since_the_record(engine: Engine) -> None:
    start = rich(
        owned="row crash",
        resources=[pickup(3, 2)],
        enemies=[virus(3, 5, hp=1), virus(4, 3, hp=1)],
        stepActive=True,
        history=state(player=(0, 0)),
        killsSinceHistory=7,
        pickupsSinceHistory=3,
    )
    counts = ("killsSinceHistory", "pickupsSinceHistory")
    moved = engine.play(start, UP).state
    assert [moved[name] for name in counts] == [0, 1]
    after_row = engine.play(start, UP, ACTION["row"]).state
    assert [after_row[name] for name in counts] == [1, 1]
    after_crash = engine.play(start, UP, ACTION["row"], ACTION["crash"]).state
    assert [after_crash[name] for name in counts] == [2, 1]
    next_turn = engine.play(start, UP, ACTION["row"], ACTION["crash"], UP).state
    assert [next_turn[name] for name in counts] == [0, 0]


def test_P_UNDO_without_a_record_nothing_is_counted(engine: Engine) -> None:
    after = use(engine, "row", enemies=[daemon(2, 5, hp=1)])
    assert after.rewards["kills"] == 300
    assert after.state["killsSinceHistory"] == 0


def test_P_UNDO_the_counts_saturate(engine: Engine) -> None:
    fields = {"history": state(player=(0, 0)), "killsSinceHistory": 9998}
    crowd = [virus(2, c, hp=1) for c in (0, 1, 3)]
    assert use(engine, "row", enemies=crowd, **fields).state["killsSinceHistory"] == 9999


def test_P_STEP_skips_the_next_enemy_turn(engine: Engine) -> None:
    after = use(engine, "step", enemies=[daemon(5, 5)], exit=(0, 0))
    assert after.state["stepActive"] is True
    skipped = engine.play(after.state, UP).state
    assert skipped["stepActive"] is False
    assert skipped["turn"] == 0
    assert place_of(only(skipped["enemies"])) == (5, 5)
    assert engine.play(skipped, UP).state["turn"] == 1


def test_P_SIPH_PLUS_gives_a_data_siphon(engine: Engine) -> None:
    after = use(engine, "siph+", dataSiphons=2)
    assert after.state["player"]["dataSiphons"] == 3
    assert "data_siphon" not in after.rewards


def test_P_EXCH_gives_4_energy(engine: Engine) -> None:
    after = use(engine, "exch", credits=4, energy=1).state["player"]
    assert (after["credits"], after["energy"]) == (0, 5)


def test_P_SHOW_is_on_for_the_stage(engine: Engine) -> None:
    assert use(engine, "show").state["showActivated"] is True
    gone = engine.play(rich(player=(4, 5), exit=(5, 5), showActivated=True), UP).state
    assert gone["showActivated"] is False


@pytest.mark.parametrize("hp", [1, 2])
def test_P_RESET_heals_to_3(engine: Engine, hp: int) -> None:
    assert use(engine, "reset", hp=hp).state["player"]["hp"] == 3


def test_P_CALM_stops_the_schedule(engine: Engine) -> None:
    start = rich(owned="calm wait", nextScheduledTaskTurn=1)
    assert len(engine.play(start, WAIT).state["transmissions"]) == 1
    calm = engine.play(start, ACTION["calm"])
    assert calm.state["scheduledTasksDisabled"] is True
    waited = engine.play(calm.state, WAIT).state
    assert waited["transmissions"] == []
    assert waited["nextScheduledTaskTurn"] == 1


def test_P_D_BOM_removes_the_nearest_daemon_and_hits_around_it(engine: Engine) -> None:
    enemies = [daemon(4, 3, hp=3), daemon(0, 5), virus(3, 3), glitch(5, 4, hp=1), virus(4, 1), daemon(5, 2)]
    after = use(engine, "d_bom", enemies=enemies, attackDamage=3, exit=(0, 0))
    assert hp_of(after.state) == {(0, 5): 3, (3, 3): 1, (4, 1): 2, (5, 2): 2}
    stunned = {place_of(entry) for entry in after.state["enemies"] if entry["stunned"]}
    assert stunned == {(3, 3), (5, 2)}
    assert after.rewards["kills"] == 600


def test_P_D_BOM_distance_is_manhattan_and_ties_are_row_major(engine: Engine) -> None:
    # (2,5) is 3 away, (4,4) is 4 away though only 2 rows and 2 columns.
    after = use(engine, "d_bom", enemies=[daemon(4, 4), daemon(2, 5)])
    assert places(after.state["enemies"]) == [(4, 4)]
    tied = use(engine, "d_bom", enemies=[daemon(4, 2), daemon(2, 4), daemon(2, 0), daemon(3, 3)])
    assert places(tied.state["enemies"]) == [(2, 4), (3, 3), (4, 2)]


def test_P_D_BOM_a_scheduled_daemon_is_no_kill(engine: Engine) -> None:
    after = use(engine, "d_bom", enemies=[daemon(4, 4, **SCHEDULED), virus(4, 5, hp=1)])
    assert after.rewards["kills"] == 300


def test_P_DELAY_gives_every_transmission_3_turns(engine: Engine) -> None:
    after = use(engine, "delay", transmissions=[coming("virus", 0, 0, turns=1), coming("daemon", 4, 4, turns=7)])
    assert [entry["turnsRemaining"] for entry in after.state["transmissions"]] == [4, 10]


def test_P_ANTI_V_hits_every_virus_for_1(engine: Engine) -> None:
    enemies = [virus(0, 0), virus(4, 5, hp=1), daemon(3, 3)]
    after = use(engine, "anti-v", enemies=enemies, attackDamage=3)
    assert hp_of(after.state) == {(0, 0): 1, (3, 3): 3}
    assert after.rewards["kills"] == 300


@pytest.mark.parametrize("stage", range(1, 8))
def test_P_SCORE_gives_8_minus_stage(engine: Engine, stage: int) -> None:
    after = use(engine, "score", stage=stage, score=10)
    assert after.state["player"]["score"] == 10 + 8 - stage
    assert after.rewards["score_gain"] == 500 * (8 - stage)


def test_P_REDUC_lowers_every_unsiphoned_spawn_count(engine: Engine) -> None:
    blocks = [
        data(0, 1, points=7),
        program(0, 2, "atk+"),
        question(0, 3, points=2),
        data(0, 4, spawnCount=0),
        data(1, 1, siphoned=True, spawnCount=6),
    ]
    after = use(engine, "reduc", blocks=blocks)
    assert [block["spawnCount"] for block in after.state["blocks"]] == [6, 7, 1, 0, 6]
    assert after.state["blocks"][0]["points"] == 7


def test_P_ATK_PLUS_raises_the_attack(engine: Engine) -> None:
    once = use(engine, "atk+").state
    assert (once["player"]["attackDamage"], once["atkPlusUses"]) == (2, 1)
    twice = engine.play(once, ACTION["atk+"]).state
    assert (twice["player"]["attackDamage"], twice["atkPlusUses"]) == (3, 2)
    assert not engine.mask(twice)[ACTION["atk+"]]


def test_P_HACK_hits_enemies_on_siphoned_cells(engine: Engine) -> None:
    enemies = [daemon(0, 0), daemon(4, 4), daemon(3, 3)]
    after = use(engine, "hack", enemies=enemies, siphoned=((0, 0),), blocks=[data(4, 4, siphoned=True)], attackDamage=2)
    assert hp_of(after.state) == {(0, 0): 1, (3, 3): 3, (4, 4): 1}


def test_P_HACK_without_an_enemy_there_changes_nothing_but_the_cost(engine: Engine) -> None:
    start, action = run("hack", enemies=[daemon(4, 4)], siphoned=((0, 0),))
    before, after = engine.complete(start), engine.play(start, action).state
    paid = before["player"] | {"credits": 48, "energy": 48}
    assert after == before | {"player": paid, "eventNumber": 1}

"""Chapter P: the programs, each with its costs, its effect and its exceptions."""

from typing import Any

import pytest

from . import randomness as site
from .blocks import credits, data, pickup, program, question
from .builders import APPLICABLE, DOWN, SIPHON, UP, WAIT, doorstep, rich, run, state
from .engines import PRICE, Case, Engine, Entry, Json, Outcome, Place, StateDict, at, case, cases, only, paid, places
from .movers import SCHEDULED, coming, cryptog, daemon, glitch, virus
from .randomness import word
from .tables import ACTION, COST, ENEMIES, MAX_HP, OWN_KEYS

UNDO = ACTION["undo"]
UNSEEN = {"lastKnownRow": 0, "lastKnownCol": 5}
FIELDS = {"stunned": True, "disabledTurns": 3, "spawnedFromSiphon": True, "isFromScheduledTask": True}


def use(engine: Engine, name: str, *entries: Entry, **fields: Json) -> Outcome:
    """The outcome of one program of a player in (2,2) with 50 credits and 50 energy."""
    return engine.play(*run(name, *entries, **fields))


@pytest.mark.parametrize("name", [name for name in APPLICABLE if name != "undo"])
def test_P_the_cost_is_paid(engine: Engine, name: str) -> None:
    credits_cost, energy_cost = COST[ACTION[name]]
    gained = 4 if name == "exch" else 0
    paid = use(engine, name, **APPLICABLE[name])["credits", "energy"]
    assert paid == (50 - credits_cost, 50 - energy_cost + gained)


@pytest.mark.parametrize("name", ["debug", "row", "col", "hack", "anti-v"])
def test_P_hit_removes_at_0_and_stuns_survivors(engine: Engine, name: str) -> None:
    # On a siphoned block in the player's row and column, in reach of every one of these programs.
    blocks = [data(2, 4, siphoned=True), data(4, 2, siphoned=True)]
    place = (4, 2) if name == "col" else (2, 4)
    after = use(engine, name, virus(*place), *blocks)
    assert after["hps", "stunned", "kills"] == ({place: 1}, [place], 0)
    assert use(engine, name, virus(*place, hp=1), *blocks)["enemies", "kills"] == ([], PRICE["kills"])
    assert use(engine, name, virus(*place, hp=1, **SCHEDULED), *blocks)["enemies", "kills"] == ([], 0)


def shoved(name: str, what: str, then: list[Place], *entries: Entry, **fields: Json) -> Json:
    """A row that says where enemies stand after PUSH or PULL, in row-major order."""
    return case(what, *run(name, *entries, **({"exit": (0, 0)} | fields)), enemies=then)


@cases(
    *(
        shoved("push", f"{start} to {end}", [end], daemon(*start), exit=(0, 5))
        for start, end in (
            ((3, 3), (4, 4)),  # both components: two cells farther
            ((1, 1), (0, 0)),
            ((3, 2), (4, 2)),  # a zero component has no candidate of its own
            ((2, 1), (2, 0)),
            ((5, 2), (5, 2)),  # nowhere on the board
            ((5, 4), (5, 5)),  # both and row are off the board: column only
            ((3, 5), (4, 5)),  # both and column are off the board: row only
            ((0, 0), (0, 0)),
        )
    ),
    shoved("push", "the far one makes room before the near one moves", [(4, 2), (5, 2)], daemon(3, 2), daemon(4, 2)),
    shoved("push", "one at the edge keeps the next where it is", [(4, 2), (5, 2)], daemon(4, 2), daemon(5, 2)),
    # The far one goes to (5,5), then the near one to (4,4); nobody moves twice.
    shoved("push", "the order is fixed before the first moves", [(4, 4), (5, 5)], daemon(3, 3), virus(4, 4)),
    # (3,3)'s candidate is (4,4) and nothing else; a transmission there keeps it in place.
    shoved("push", "the chosen cell is not replaced when taken", [(3, 3)], daemon(3, 3), coming("virus", 4, 4)),
    shoved("push", "blocks do not stop it", [(4, 2)], virus(3, 2), data(4, 2)),
    # Both would enter (5,5): (4,5) by its row, as its column is at the edge, (5,4) by its column.
    # Both are at distance 5; (4,5) comes first.
    case("ties", *run("push", virus(4, 5), daemon(5, 4), exit=(0, 0)), kinds={(5, 5): "virus", (5, 4): "daemon"}),
)
def test_P_PUSH_away_from_the_player(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected


def test_P_PUSH_keeps_the_fields_of_an_enemy(engine: Engine) -> None:
    moved = only(use(engine, "push", daemon(3, 3, hp=1, **FIELDS)).state["enemies"])
    assert moved == daemon(4, 4, hp=1, **FIELDS)
    moved = only(use(engine, "push", cryptog(3, 2, **UNSEEN)).state["enemies"])
    assert moved == moved | UNSEEN | {"row": 4, "col": 2}


@cases(
    *(
        shoved("pull", f"{start} to {end}", [end], daemon(*start))
        for start, end in (
            ((5, 5), (4, 4)),
            ((5, 2), (4, 2)),
            ((2, 5), (2, 4)),
            ((0, 5), (1, 4)),
            ((3, 2), (3, 2)),  # the player's cell is no candidate
            ((2, 1), (2, 1)),
            ((3, 3), (2, 3)),  # both leads to the player: row only comes before column only
            ((1, 1), (2, 1)),
            ((4, 3), (3, 2)),
        )
    ),
    shoved("pull", "the nearest moves first", [(3, 2), (4, 2)], daemon(4, 2), daemon(5, 2)),
    shoved("pull", "one that cannot move keeps the next", [(3, 2), (4, 2)], daemon(3, 2), daemon(4, 2)),
    # (3,1) and (3,3) are both at distance 2 and go to (2,1) and (2,3); (4,2) at distance 2 goes to (3,2).
    shoved("pull", "three at once", [(2, 1), (2, 3), (3, 2)], daemon(3, 1), daemon(3, 3), daemon(4, 2)),
    shoved("pull", "into the old cell of the nearer one", [(2, 3), (2, 4)], daemon(2, 4), daemon(3, 5)),
    shoved("pull", "the chosen cell is not replaced when taken", [(4, 4)], daemon(4, 4), coming("virus", 3, 3)),
    # (3,4) and (4,3), both at distance 3, would enter (3,3) and (3,2) or (2,3).
    case("ties", *run("pull", virus(3, 4), daemon(4, 3)), kinds={(2, 3): "virus", (3, 2): "daemon"}),
)
def test_P_PULL_toward_the_player(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected


def test_P_PULL_blocks_do_not_stop_it_and_last_known_cells_stay(engine: Engine) -> None:
    moved = only(use(engine, "pull", cryptog(5, 4, **UNSEEN), data(4, 3), exit=(0, 0)).state["enemies"])
    assert moved == moved | UNSEEN | {"row": 4, "col": 3}


def test_P_CRASH_clears_the_8_neighbours(engine: Engine) -> None:
    after = use(
        engine,
        "crash",
        *(data(1, 1), program(1, 2, "push"), question(1, 3, points=3), data(4, 4), data(2, 4), data(2, 2)),
        *(glitch(1, 1), daemon(2, 1), daemon(2, 3, **SCHEDULED), daemon(0, 2)),
        *(coming("virus", 3, 1), coming("virus", 3, 2, **SCHEDULED), coming("virus", 5, 5)),
        exit=(5, 0),
    )
    # The player's own block stays.
    assert after["blocks", "enemies", "transmissions"] == ([(2, 2), (2, 4), (4, 4)], [(0, 2)], [(5, 5)])
    assert after["kills", "score", "owned"] == (3 * PRICE["kills"], 0, "crash")


def test_P_CRASH_keeps_resources_and_siphoned_flags(engine: Engine) -> None:
    lying = [data(3, 2, siphoned=True), data(2, 3), credits(3, 2, 2), credits(2, 3, 1), pickup(1, 1)]
    after = use(engine, "crash", *lying, siphoned=((1, 1),), centres=((1, 1),))
    assert after["blocks", "siphoned", "siphonCenters"] == ([], [(1, 1), (3, 2)], [(1, 1)])
    assert after["resources"] == [(1, 1), (2, 3), (3, 2)]


@pytest.mark.parametrize("seed", range(8))
def test_P_WARP_to_a_uniform_enemy_or_transmission(engine: Engine, seed: int) -> None:
    targets = [daemon(0, 1), virus(4, 4), glitch(3, 0), coming("virus", 1, 5), coming("daemon", 5, 2)]
    after = use(engine, "warp", *targets, seed=seed, eventNumber=6)
    chosen = min(places(targets), key=lambda place: word(seed, 7, site.WARP, 6 * place[0] + place[1]))
    assert after["player", "kills"] == (chosen, PRICE["kills"])
    left = [*after["enemies"], *after["transmissions"]]
    assert sorted(left) == sorted({*places(targets)} - {chosen})


@pytest.mark.parametrize("seed", range(6))
def test_P_POLY_each_becomes_a_uniform_other_type(engine: Engine, seed: int) -> None:
    enemies = [virus(0, 0), daemon(1, 4), glitch(3, 3), cryptog(5, 1)]
    after = use(engine, "poly", *enemies, seed=seed).state
    for entry, place in zip(enemies, places(enemies), strict=True):
        others = [kind for kind in ENEMIES if kind != entry["type"]]
        kind = others[word(seed, 1, site.POLY, 6 * place[0] + place[1]) * 3 >> 32]
        became = at(after["enemies"], *place)
        assert (became["type"], became["hp"]) == (kind, MAX_HP[kind])
        assert ("lastKnownRow" in became) is (kind == "cryptog")


def poly(becomes: str, entry: Entry) -> tuple[StateDict, int]:
    """POLY, as event 1, with the smallest seed that turns the enemy in (4,4) into ``becomes``."""
    place = [other for other in ENEMIES if other != entry["type"]].index(becomes)
    seed = next(seed for seed in range(99) if word(seed, 1, site.POLY, 28) * 3 >> 32 == place)
    return run("poly", entry, seed=seed)


def test_P_POLY_what_else_an_enemy_keeps_and_gets(engine: Engine) -> None:
    (became,) = engine.play(*poly("cryptog", virus(4, 4))).state["enemies"]
    assert (became["lastKnownRow"], became["lastKnownCol"]) == (4, 4)
    (became,) = engine.play(*poly("daemon", virus(4, 4, **FIELDS))).state["enemies"]
    assert became == daemon(4, 4, **FIELDS)


CROWD = [glitch(0, 0), virus(4, 4), daemon(5, 1), daemon(3, 3)]
ROW = [daemon(2, 0), daemon(2, 5), daemon(3, 2), daemon(1, 0), data(2, 1), data(2, 4)]
COL = [daemon(0, 2), daemon(5, 2), daemon(2, 3), daemon(0, 1)]
SIPHONED = data(4, 4, siphoned=True)
UNDER = [data(0, 0), SIPHONED, question(5, 1)]
VIRUSES = [virus(0, 0), virus(4, 5, hp=1), daemon(3, 3)]
BOMBED = [daemon(4, 3), daemon(0, 5), virus(3, 3), glitch(5, 4, hp=1), virus(4, 1), daemon(5, 2)]
TIED = [daemon(4, 2), daemon(2, 4), daemon(2, 0), daemon(3, 3)]
THREE = [daemon(0, 0), daemon(4, 4), daemon(3, 3)]


def hits(name: str, what: str, hps: dict[Place, int], *entries: Entry, kills: int = 0, **fields: Json) -> Json:
    """A row that says how many hp enemies are left with after a program."""
    return case(f"{name}: {what}", *run(name, *entries, **fields), hps=hps, **paid(kills=kills))


@cases(
    hits("debug", "on blocks", {(0, 0): 1, (4, 4): 1, (5, 1): 2, (3, 3): 3}, *CROWD, *UNDER),
    hits("debug", "by 2", {(4, 4): 2, (5, 1): 1, (3, 3): 3}, *CROWD, data(0, 0), data(5, 1), attackDamage=2, kills=1),
    hits("row", "past blocks", {(1, 0): 3, (2, 0): 1, (2, 5): 1, (3, 2): 3}, *ROW, attackDamage=2),
    hits("col", "past blocks", {(0, 1): 3, (2, 3): 3}, *COL, data(1, 2), attackDamage=3, kills=2),
    # The nearest daemon is removed, and what is around it hit for 1.
    hits("d_bom", "around", {(0, 5): 3, (3, 3): 1, (4, 1): 2, (5, 2): 2}, *BOMBED, attackDamage=3, kills=2),
    # (2,5) is 3 away, (4,4) is 4 away though only 2 rows and 2 columns.
    hits("d_bom", "distance is Manhattan", {(4, 4): 3}, daemon(4, 4), daemon(2, 5), kills=1),
    hits("d_bom", "ties are row-major", {(2, 4): 3, (3, 3): 3, (4, 2): 3}, *TIED, kills=1),
    hits("d_bom", "no kill if scheduled", {}, daemon(4, 4, **SCHEDULED), virus(4, 5, hp=1), kills=1),
    hits("anti-v", "for 1", {(0, 0): 1, (3, 3): 3}, *VIRUSES, attackDamage=3, kills=1),
    hits("hack", "siphoned", {(0, 0): 1, (3, 3): 3, (4, 4): 1}, *THREE, SIPHONED, siphoned=((0, 0),), attackDamage=2),
)
def test_P_DEBUG_P_ROW_P_COL_P_D_BOM_P_ANTI_V_P_HACK_whom_they_hit(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected


def test_P_HACK_without_an_enemy_there_changes_nothing_but_the_cost(engine: Engine) -> None:
    start, action = run("hack", daemon(4, 4), siphoned=((0, 0),))
    before = engine.complete(start)
    paid = before["player"] | {"credits": 48, "energy": 48}
    assert engine.play(start, action).state == before | {"player": paid, "eventNumber": 1}


# UNDO


@pytest.mark.parametrize("action", [UP, SIPHON, WAIT], ids=["move", "siphon", "wait"])
@pytest.mark.parametrize("skipped", [False, True], ids=["", "skipped"])
def test_P_UNDO_brings_the_state_before_the_turn_back_whole(engine: Engine, action: int, skipped: bool) -> None:
    start = rich(
        *(virus(3, 4, hp=1), cryptog(5, 1, **UNSEEN), daemon(2, 3, disabledTurns=2)),
        *(coming("glitch", 0, 0, turns=1), coming("virus", 0, 4, turns=3)),
        *(data(1, 2, points=4), question(2, 1, program="warp"), credits(3, 2, 3), pickup(5, 0)),
        owned="undo wait hack",
        dataSiphons=2,
        siphoned=((0, 1),),
        stepActive=skipped,
        nextScheduledTaskTurn=1,
        seed=21,
    )
    before = engine.complete(start)
    paid = before["player"] | {"credits": 50 - 1}
    assert engine.play(start, action, UNDO).state == before | {"player": paid, "eventNumber": 2}


OLD = state(player=(2, 3), stepActive=True, showActivated=True, owned="push", attackDamage=2, atkPlusUses=1)
EARNED = state(credits=9, energy=9, owned="undo wait exch")
POOR = state(owned="undo", credits=5, history=state(player=(2, 3), credits=0))
LATER = rich(owned="undo", history=OLD, scheduledTasksDisabled=True)
TWO_TURNS = rich(owned="undo"), UP, DOWN, UNDO


def test_P_UNDO_the_record_has_neither_history_nor_seed_of_its_own(engine: Engine) -> None:
    start = engine.complete(rich(owned="undo", seed=5, eventNumber=8, history=state(player=(1, 1))))
    hidden = {"history", *OWN_KEYS}
    assert engine.play(start, UP)["history"] == {key: value for key, value in start.items() if key not in hidden}


def test_P_UNDO_programs_are_not_recorded(engine: Engine) -> None:
    record = engine.play(rich(owned="siph+ exch"), UP, ACTION["siph+"], ACTION["exch"])["history"]
    assert (places([record["player"]]), record["player"]["dataSiphons"]) == ([(2, 2)], 0)
    assert use(engine, "siph+")["history"] is None


def counted(*actions: int, kills: int, pickups: int) -> Any:  # noqa: ANN401 - a row
    start = rich(
        *(pickup(3, 2), virus(3, 5, hp=1), virus(4, 3, hp=1)),
        owned="row crash",
        stepActive=True,
        history=state(player=(0, 0)),
        killsSinceHistory=7,
        pickupsSinceHistory=3,
    )
    return case(f"{actions}", start, *actions, killsSinceHistory=kills, pickupsSinceHistory=pickups)


CALM, STEP, ATTACK = ACTION["calm"], ACTION["step"], ACTION["atk+"]
DUE = rich(owned="calm wait", nextScheduledTaskTurn=1)
STILL = rich(daemon(5, 5), owned="step", exit=(0, 0))
BLOCKS = [data(0, 1, points=7), program(0, 2, "atk+"), question(0, 3, points=2), data(0, 4, spawnCount=0)]
BLOCKS += [data(1, 1, siphoned=True, spawnCount=6)]
SIGNALS = [coming("virus", 0, 0, turns=1), coming("daemon", 4, 4, turns=7)]


@cases(
    case("P_WARP: no pickup", *run("warp", coming("virus", 0, 5), pickup(0, 5)), dataSiphons=0, resources=[(0, 5)]),
    case("P_WARP: onto a block", *run("warp", glitch(4, 4), data(4, 4)), player=(4, 4), blocks=[(4, 4)]),
    case("P_WARP: a scheduled one is no kill", *run("warp", daemon(4, 4, **SCHEDULED)), enemies=[], kills=0),
    case("P_POLY: to more hp", *poly("daemon", virus(4, 4, hp=1)), kinds={(4, 4): "daemon"}, hps={(4, 4): 2}, kills=0),
    case("P_POLY: to fewer hp", *poly("virus", daemon(4, 4, hp=2)), kinds={(4, 4): "virus"}, hps={(4, 4): 1}, kills=0),
    case("P_POLY: as many", *poly("cryptog", glitch(4, 4, hp=1)), kinds={(4, 4): "cryptog"}, hps={(4, 4): 1}, kills=0),
    case("P_POLY: to none", *poly("glitch", daemon(4, 4, hp=1)), enemies=[], **paid(kills=1)),
    case("P_POLY: a scheduled one is no kill", *poly("virus", daemon(4, 4, hp=1, **SCHEDULED)), enemies=[], kills=0),
    case("P_UNDO: an attack too", rich(daemon(5, 2, hp=1), owned="undo"), UP, UNDO, hps={(5, 2): 1}, **paid(kills=-1)),
    case("P_UNDO: what WAIT and programs cost", EARNED, WAIT, ACTION["exch"], UNDO, credits=9 - 1, energy=9),
    case("P_UNDO: paid from the restored credits, not below 0", POOR, UNDO, credits=0, **paid(resource_gain=0 - 5)),
    case("P_UNDO: programs", LATER, UNDO, owned="push", attackDamage=2, atkPlusUses=1),
    case("P_UNDO: flags", LATER, UNDO, stepActive=True, showActivated=True, scheduledTasksDisabled=False),
    case("P_UNDO: one turn alone", *TWO_TURNS, player=(3, 2), history=None),
    case("P_UNDO: nothing a second time", *TWO_TURNS, UNDO, flags="terminated invalid_action"),
    counted(UP, kills=0, pickups=1),
    counted(UP, ACTION["row"], kills=1, pickups=1),
    counted(UP, ACTION["row"], ACTION["crash"], kills=2, pickups=1),
    counted(UP, ACTION["row"], ACTION["crash"], UP, kills=0, pickups=0),
    case("P_UNDO: without a record nothing", *run("row", daemon(2, 5, hp=1)), **paid(kills=1), killsSinceHistory=0),
    case(
        "P_UNDO: at most 9999",
        *run("row", *(virus(2, c, hp=1) for c in (0, 1, 3)), history=state(player=(0, 0)), killsSinceHistory=9998),
        killsSinceHistory=9999,
    ),
    case("P_D_BOM: stuns around it", *run("d_bom", *BOMBED, exit=(0, 0)), stunned=[(3, 3), (5, 2)]),
    case("P_WAIT: the enemy turn", *run("wait", daemon(0, 5), player=(0, 0)), enemies=[(0, 4)], turn=1),
    case("P_STEP: on", STILL, STEP, stepActive=True),
    case("P_STEP: skips the next enemy turn", STILL, STEP, UP, stepActive=False, turn=0, enemies=[(5, 5)]),
    case("P_STEP: but that alone", STILL, STEP, UP, UP, turn=1),
    case("P_SIPH_PLUS", *run("siph+", dataSiphons=2), dataSiphons=3, data_siphon=0),
    case("P_EXCH", *run("exch", credits=4, energy=1), credits=0, energy=5),
    case("P_SHOW", *run("show"), showActivated=True),
    case("P_SHOW: for the stage", doorstep(showActivated=True), UP, showActivated=False),
    case("P_RESET: from 1", *run("reset", hp=1), hp=3),
    case("P_RESET: from 2", *run("reset", hp=2), hp=3),
    *(
        case(f"P_SCORE: in stage {s}", *run("score", stage=s, score=10), score=18 - s, **paid(score_gain=8 - s))
        for s in range(1, 8)
    ),
    case("P_CALM: on", DUE, CALM, scheduledTasksDisabled=True),
    case("P_CALM: stops the schedule", DUE, CALM, WAIT, transmissions=[], nextScheduledTaskTurn=1),
    case("P_DELAY", *run("delay", *SIGNALS), coming={(0, 0): 4, (4, 4): 10}),
    case("P_REDUC: unsiphoned", *run("reduc", *BLOCKS), spawns={(0, 1): 6, (0, 2): 7, (0, 3): 1, (0, 4): 0, (1, 1): 6}),
    case("P_ATK_PLUS: once", *run("atk+"), attackDamage=2, atkPlusUses=1),
    case("P_ATK_PLUS: twice", *run("atk+"), ATTACK, attackDamage=3, atkPlusUses=2),
    case("P_ATK_PLUS: no more", *run("atk+"), ATTACK, ATTACK, attackDamage=3, flags="terminated invalid_action"),
)
def test_P_programs(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected

"""Chapter W: the reward components, exact in thousandths."""

import jax
import numpy as np
import pytest

from hackmatrix import jax_env
from hackmatrix.rules import COMPONENTS

from .blocks import credits, data, energy, pickup, program, question
from .builders import APPLICABLE, DOWN, LEFT, RIGHT, SIPHON, UP, WAIT, doorstep, rich, run, state
from .engines import PRICE, Case, Engine, Entry, Json, StateDict, case, cases, paid
from .movers import CALLED, SCHEDULED, daemon, virus
from .tables import ACTION, REWARD_NAMES

UNDO = ACTION["undo"]


def dying(*entries: Entry, **fields: Json) -> StateDict:
    return state(daemon(2, 3), *entries, **({"hp": 1, "owned": "wait", "energy": 1} | fields))


def test_W_the_float_reward_is_the_rounded_quotient_of_the_total() -> None:
    largest = 1_001_000_000
    rng = np.random.default_rng(0)
    totals = np.concatenate([np.arange(-200_000, 200_000), rng.integers(-(2**24), largest, 100_000), [largest]])
    components = np.zeros((len(totals), len(COMPONENTS)), np.int32)
    components[:, 0] = -10
    components[:, 6] = totals + 10
    rewards = np.asarray(jax.jit(jax.vmap(jax_env.reward))(components))
    assert rewards.dtype == np.float32
    np.testing.assert_array_equal(rewards, totals.astype(np.float32) / np.float32(1000))


def _won(score: int) -> int:
    return PRICE["victory"] + score * PRICE["victory_per_score"]


TWO_KILLS = run("row", daemon(2, 0), virus(2, 4), virus(2, 5, **SCHEDULED), attackDamage=3)
WALK = state(scheduledTasksDisabled=True)
RESOURCES = state(credits(2, 2, 3), energy(3, 2, 2), credits(5, 5, 3), dataSiphons=1)
HOLDING = {"credits": 21, "energy": 9}
SCORING = state(data(3, 2, points=7), data(2, 3, points=2), dataSiphons=1)
BETTER = state(credits(2, 2, 1), credits(5, 0, 3), energy(0, 0, 2), dataSiphons=1)
BESIDE, DIAGONAL = virus(3, 2, frozen=True, **CALLED), virus(3, 3, frozen=True, **CALLED)
KILLER = state(daemon(2, 3, **CALLED), hp=1, owned="wait", energy=1)
PAIN = state(daemon(3, 2), daemon(1, 2), owned="wait", energy=1)


# W1

WALL = [data(4, col) for col in range(5)]
DETOUR = [data(row, 1) for row in range(1, 6)]


@pytest.mark.parametrize(
    ("start", "distance"),
    [
        (state(*WALL, player=(5, 0)), 5),
        (state(*WALL, player=(3, 0)), 7),
        (state(*DETOUR, player=(5, 0)), 15),
        (state(*(daemon(4, col) for col in range(6)), player=(3, 5)), 2),  # enemies do not block
        (state(data(3, 5), player=(3, 5)), 2),  # the start counts as open
        (state(data(4, 5), data(5, 4)), 0),  # no path
    ],
)
def test_W1_the_distance_is_along_cells_without_blocks(engine: Engine, start: StateDict, distance: int) -> None:
    assert engine.complete(start)["closestApproach"] == distance


NEARER = state(closestApproach=5, scheduledTasksDisabled=True)
PARTED = [data(4, col) for col in range(1, 6)]


def approach(what: str, start: StateDict, *actions: int, gain: int, closest: int) -> Json:
    """A row that says how many cells were gained, and how near the player has been by then."""
    return case(what, start, *actions, **paid(distance_shaping=gain), closestApproach=closest)


def test_W1_walking_to_and_fro_is_worth_exactly_minus_1(engine: Engine) -> None:
    now, total = NEARER, 0
    for number in range(20):
        outcome = engine.play(now, (UP, DOWN)[number % 2])
        total += sum(outcome.components.values())
        now = outcome.state
    assert total == 20 * PRICE["step_penalty"]


# W2: the state of each row has its siphon in (2,2)


def missed(what: str, amount: int, *entries: Entry, **fields: Json) -> Json:
    """A row that says how much a siphon in (2,2) misses."""
    return case(what, state(*entries, **({"dataSiphons": 1} | fields)), SIPHON, **paid(siphon_quality=amount))


HERE = (credits(2, 2, 1), energy(2, 3, 1))
DRAINED = [data(row, col, siphoned=True) for row, col in [(4, 4), (3, 4), (4, 3), (4, 5)]]
FOURS = [data(3, 2, points=4), data(5, 5, points=4)]
PUSH, PULL = program(3, 2, "push"), program(1, 2, "pull")
SHUT = [data(4, 5, siphoned=True), data(5, 4, siphoned=True)]


# W3

COUNTED = rich(owned="undo", history=state(player=(2, 3)), killsSinceHistory=4, pickupsSinceHistory=1)


@pytest.mark.parametrize("action", [UP, RIGHT, SIPHON, WAIT])
def test_W3_doing_and_undoing_earns_nothing_but_the_costs(engine: Engine, action: int) -> None:
    block, warp = data(1, 2, points=4), program(2, 1, "warp")
    lying = [pickup(3, 2), credits(2, 1, 3), virus(2, 4, hp=1, frozen=True), block, warp]
    start = rich(*lying, owned="undo wait row", dataSiphons=1)
    first = engine.play(start, action)
    second = engine.play(first.state, UNDO)
    both = {name: first.components[name] + second.components[name] for name in REWARD_NAMES}
    costs = paid(step_penalty=2, resource_gain=-1)
    assert {name: value for name, value in both.items() if value and name != "siphon_quality"} == costs


@cases(
    *(case(name, *run(name, **fields), **paid(step_penalty=1)) for name, fields in APPLICABLE.items()),
    case("W_step_penalty: a siphon", state(dataSiphons=1), SIPHON, **paid(step_penalty=1)),
    case("W_step_penalty: a move", doorstep(), UP, **paid(step_penalty=1)),
    case("W_step_penalty: nothing that is invalid", doorstep(), RIGHT, step_penalty=0),
    *(
        case(f"W_stage_completion: stage {s}", doorstep(stage=s), UP, stage_completion=PRICE[f"stage_completion_{s}"])
        for s in range(1, 9)
    ),
    case("W_stage_completion: none", doorstep(), LEFT, stage_completion=0),
    *(
        case(f"W_victory: score {score}", doorstep(stage=8, score=score), UP, victory=_won(score))
        for score in (0, 7, 9999)
    ),
    case("W_victory: not before", doorstep(stage=7, score=7), UP, victory=0),
    *(
        case(f"W_death_penalty: stage {s}", dying(stage=s), WAIT, death_penalty=PRICE[f"death_penalty_{s}"])
        for s in range(1, 9)
    ),
    case("W_death_penalty: not alive", dying(stage=3, hp=2), WAIT, flags="", death_penalty=0),
    case("W_score_gain: data", SCORING, SIPHON, **paid(score_gain=9)),
    case("W_kills", *TWO_KILLS, **paid(kills=2)),
    case("W_data_siphon: a pickup walked onto", state(pickup(3, 2)), UP, **paid(data_siphon=1)),
    case("W_data_siphon: a siphon of SIPH+", *run("siph+"), data_siphon=0),
    case("W_distance_shaping: a step nearer", WALK, UP, **paid(distance_shaping=1)),
    case("W_distance_shaping: a step away", WALK, DOWN, distance_shaping=0),
    case("W_resource_gain: siphoned", RESOURCES, SIPHON, **paid(resource_gain=5)),
    case("W_resource_gain: paid", *run("crash", data(3, 3)), **paid(resource_gain=-5)),
    case("W_resource_gain: exchanged", *run("exch"), resource_gain=0),
    case("W_resource_holding: held at the end of a stage", doorstep(**HOLDING), UP, **paid(resource_holding=30)),
    case(
        "W_resource_holding: held at the end of the game", doorstep(stage=8, **HOLDING), UP, **paid(resource_holding=30)
    ),
    case("W_resource_holding: held meanwhile", doorstep(**HOLDING), LEFT, resource_holding=0),
    case("W_resource_holding: held after a WARP", *run("warp", daemon(5, 5)), **paid(resource_holding=48 + 48)),
    case("W_damage_penalty: struck twice", PAIN, WAIT, hp_recovery=0, **paid(damage_penalty=2)),
    case(
        "W_damage_penalty: one hp to lose",
        PAIN | {"player": PAIN["player"] | {"hp": 1}},
        WAIT,
        **paid(damage_penalty=1),
    ),
    case("W_damage_penalty: by UNDO", rich(owned="undo", hp=3, history=state(hp=1)), UNDO, **paid(damage_penalty=2)),
    case("W_hp_recovery: healed by RESET", *run("reset", hp=1), program_waste=0, **paid(hp_recovery=2)),
    case("W_program_waste: RESET at hp 2", *run("reset", hp=2), **paid(program_waste=1)),
    case("W_hp_recovery: healed by a stage", doorstep(hp=2), UP, **paid(hp_recovery=1)),
    case("W_hp_recovery: healed by the last one", doorstep(hp=2, stage=8), UP, **paid(hp_recovery=1)),
    case("W_hp_recovery: nothing to heal", doorstep(hp=3), UP, hp_recovery=0),
    # (5,0) and its neighbours yield 3 credits and no energy: as much energy, more credits.
    # (0,0) has less credits than 1, so it is not better.
    case("W_siphon_quality: elsewhere", BETTER, SIPHON, **paid(siphon_quality=2)),
    case("W_siphon_death_penalty: the killer", KILLER, WAIT, **paid(siphon_death_penalty=1)),
    case("W_siphon_death_penalty: anybody", dying(BESIDE), WAIT, **paid(siphon_death_penalty=1)),
    # It arrives next to the player only in this turn.
    case("W_siphon_death_penalty: at last", dying(virus(2, 0, **CALLED)), WAIT, **paid(siphon_death_penalty=1)),
    case("W_siphon_death_penalty: diagonal", dying(DIAGONAL), WAIT, siphon_death_penalty=0),
    case("W_siphon_death_penalty: nobody else", dying(), WAIT, siphon_death_penalty=0),
    case("W_siphon_death_penalty: not alive", dying(BESIDE, hp=2), WAIT, siphon_death_penalty=0),
    approach("W1: without a path nothing", state(data(4, 5), data(5, 4), closestApproach=9), UP, gain=0, closest=9),
    approach("W1: nothing where one has been", NEARER, UP, gain=0, closest=5),  # from 6 to 5
    approach("W1: only new ground", NEARER, UP, UP, gain=1, closest=4),
    approach("W1: all that remains when won", doorstep(stage=8, closestApproach=3), UP, gain=3, closest=3),
    approach("W1: nothing in death", state(daemon(3, 3), hp=1), UP, gain=0, closest=6),
    approach("W1: by CRASH", *run("crash", *PARTED, player=(3, 4)), gain=4 + 2 + 5 - 3, closest=3),
    approach("W1: by WARP", *run("warp", daemon(4, 4), player=(0, 0)), gain=8, closest=2),
    approach("W1: a longer way costs nothing", *run("warp", daemon(0, 0), player=(4, 5)), gain=0, closest=1),
    approach("W1: on the exit itself", *run("step", player=(5, 5), closestApproach=4), gain=4, closest=0),
    case("W1: all that remains of a stage", doorstep(closestApproach=1), UP, **paid(distance_shaping=1)),
    case("W1: however much it is", doorstep(closestApproach=7), UP, **paid(distance_shaping=7)),
    case("W1: and by WARP", *run("warp", daemon(5, 5), player=(0, 0)), **paid(distance_shaping=10)),
    missed("W2: nothing anywhere", 0),
    missed("W2: nothing elsewhere", 0, credits(2, 2, 2)),
    missed("W2: as much, but not more", 0, credits(2, 2, 2), credits(5, 0, 2)),
    # (4,4)'s cross holds 3 + 3 credits, the current one 2.
    missed("W2: the whole cross counts", 4, credits(2, 3, 2), credits(4, 4, 3), credits(5, 4, 3)),
    missed("W2: less energy is no better", 0, *HERE, credits(5, 0, 3)),
    missed("W2: as much of both, more of one", 2, *HERE, credits(5, 0, 3) | {"energy": 1}),
    missed("W2: the largest of each, even from different cells", 3 + 2, credits(5, 0, 3), energy(0, 5, 2)),
    missed("W2: siphoned cells yield nothing", 0, credits(5, 0, 3), siphoned=((5, 0),)),
    missed("W2: nor here", 1, credits(2, 2, 3), credits(5, 0, 1), siphoned=((2, 2),)),
    missed("W2: nothing under blocks", 0, credits(5, 0, 3), data(5, 0, siphoned=True)),
    # Of the cells whose cross holds (4,4), all but (4,4) itself, a siphoned block, are siphoned blocks too.
    # (5,4) has no block, so it reaches its own credits, not those under blocks.
    missed("W2: a free cell among blocks", 2, credits(5, 4, 2), *DRAINED),
    missed("W2: a cell with a block is no candidate", 0, credits(4, 4, 2), *DRAINED, data(5, 4, siphoned=True)),
    # The current cross holds two data blocks of 4; (4,4)'s cross would hold one of 4.
    missed("W2: points are a multiset", 0, credits(4, 4, 3), FOURS[0], data(1, 2, points=4), data(4, 3, points=4)),
    # (4,2) also reaches the block (3,2): better. (4,5) reaches an equal block elsewhere: not.
    missed("W2: the same block cells", 2, credits(4, 2, 2), FOURS[0]),
    missed("W2: not equal ones elsewhere", 0, credits(4, 5, 3), *FOURS, exit=(5, 0)),
    # The current cross holds data 4 and, unknown, program PUSH; (4,2) reaches the block (3,2) alone.
    missed("W2: questions count as what they hide", 2, credits(4, 2, 2), question(3, 2, points=4)),
    missed("W2: and programs too", 0, credits(4, 2, 2), question(3, 2, program="push"), PULL),
    # Two owned programs yield nothing: the multiset and the set are empty, and any cell without blocks compares.
    missed("W2: owned programs do not count", 2, credits(5, 0, 2), PUSH, PULL, owned="push pull"),
    missed("W2: only owned ones", 0, credits(5, 0, 2), PUSH, PULL, owned="push"),
    # A cell next to a block with something to give is not better either: (5,0) is between two.
    missed("W2: another yield", 0, credits(5, 0, 2), PUSH, PULL, data(4, 0), data(5, 1), owned="push pull"),
    # (3,2) gives PUSH, (1,2) an owned program: equal sets at (4,2), but (1,2) is not in its cross.
    missed("W2: all unsiphoned block cells must be reached", 0, credits(4, 2, 2), PUSH, PULL, owned="pull"),
    missed("W2: but not siphoned ones", 2, credits(4, 2, 2), PUSH, PULL | {"siphoned": True}, owned="pull"),
    # Two blocks of one program in the current cross, both in (4,2)'s as well? No: only (3,2) is.
    missed("W2: one of two equal programs", 0, credits(4, 2, 2), PUSH, program(1, 2, "push")),
    # With nothing but (3,2) in the current cross, a second one in (4,2)'s cross changes no set.
    missed("W2: programs are a set", 2, credits(4, 2, 2), PUSH, program(5, 2, "push")),
    # The siphon itself gets the 2 credits of (2,3); yet (2,4), which reaches them too, is better than an empty yield.
    missed("W2: on a block the current yield is empty", 2, credits(2, 3, 2), data(2, 2, points=3)),
    missed("W2: on a siphoned one too", 2, credits(2, 3, 2), data(2, 2, points=3, siphoned=True)),
    missed("W2: the exit is a cell too", 3, credits(5, 5, 3), data(4, 4), data(3, 5)),
    missed("W2: occupied and unreachable ones", 3, credits(5, 5, 3), *SHUT, daemon(5, 5, frozen=True), exit=(0, 0)),
    case("W2: about the siphon alone", state(credits(5, 0, 3)), UP, siphon_quality=0),
    case("W3: kills and pickups", COUNTED, UNDO, **paid(kills=-4, data_siphon=-1)),
    case("W3: the approach", rich(owned="undo"), UP, UNDO, **paid(distance_shaping=-1), closestApproach=6),
)
def test_W_rewards(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected

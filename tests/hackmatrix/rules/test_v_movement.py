"""Chapter V: moving and attacking."""

from .blocks import credits, data, energy, pickup
from .builders import DOWN, LEFT, RIGHT, UP, state
from .cases import Case, case, cases
from .engines import Engine
from .movers import CALLED, SCHEDULED, coming, cryptog, daemon, glitch, virus

FAR = daemon(5, 2, frozen=True)


@cases(
    case("the first in the line", state(daemon(3, 2, frozen=True), FAR), UP, hps={(3, 2): 2, (5, 2): 3}),
    case("up to the edge", state(FAR), UP, player=(2, 2), hps={(5, 2): 2}),
    case("down to the edge", state(daemon(0, 2, frozen=True)), DOWN, hps={(0, 2): 2}),
    case("left to the edge", state(daemon(2, 0, frozen=True)), LEFT, hps={(2, 0): 2}),
    case("right to the edge", state(daemon(2, 5, frozen=True)), RIGHT, hps={(2, 5): 2}),
    case("no further", state(daemon(3, 0, frozen=True), player=(2, 4)), RIGHT, player=(2, 5), hps={(3, 0): 3}),
    case("a transmission in front", state(coming("virus", 3, 2), FAR), UP, coming={}, hps={(5, 2): 3}),
    case("an enemy in front", state(coming("virus", 5, 2), daemon(4, 2)), UP, coming={(5, 2): 8}, hps={(4, 2): 2}),
    case("none behind a block", state(data(4, 2), FAR, exit=(0, 0)), UP, player=(3, 2), hps={(5, 2): 3}),
    case("nor a siphoned one", state(data(4, 2, siphoned=True), FAR), UP, player=(3, 2), hps={(5, 2): 3}),
    case("an enemy on a block", state(data(4, 2), glitch(4, 2), FAR), UP, blocks=[(4, 2)], hps={(4, 2): 1, (5, 2): 3}),
    # In the player's row it is visible by O4; that SHOW is off and its last known cell elsewhere changes nothing.
    case("a cryptog", state(cryptog(2, 5, lastKnownRow=5, lastKnownCol=0)), RIGHT, player=(2, 2), hps={(2, 5): 1}),
)
def test_V1_whom_an_attack_strikes(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected


@cases(
    case("a survivor does not act", state(daemon(3, 2)), UP, player=(2, 2), hp=3, hps={(3, 2): 2}, kills=0),
    # The flag itself is gone again at the end of the enemy turn (E12); a skipped turn shows it.
    case("and is stunned", state(daemon(3, 2), stepActive=True), UP, stunned=[(3, 2)]),
    case("an attack of 2", state(daemon(5, 2), attackDamage=2), UP, hps={(5, 2): 1}, kills=0),
    case("of 3", state(daemon(5, 2), attackDamage=3), UP, player=(2, 2), hps={}, kills=300),
    case("as much as is left", state(daemon(5, 2, hp=2), attackDamage=2), UP, hps={}, kills=300),
    case("more than is left", state(daemon(5, 2, hp=1), attackDamage=3), UP, hps={}, kills=300),
)
def test_V2_an_enemy_loses_the_attack_and_is_removed_at_0(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected


LYING = state(credits(3, 2, 3), energy(4, 2, 2))


@cases(
    case("a pickup", state(pickup(3, 2), pickup(0, 5)), UP, dataSiphons=1, resources=[(0, 5)], data_siphon=1000),
    case("none under an enemy", state(pickup(3, 2), virus(3, 2, hp=1)), UP, dataSiphons=0, resources=[(3, 2)]),
    case("no amounts", LYING, UP, UP, player=(4, 2), credits=0, energy=0, amounts={(3, 2): (3, 0), (4, 2): (0, 2)}),
)
def test_V3_what_a_move_picks_up(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected


@cases(
    case("no scheduled enemy's", state(daemon(3, 2, hp=1, **SCHEDULED)), UP, enemies=[], kills=0, killsSinceHistory=0),
    case("nor transmission's", state(coming("virus", 3, 2, **SCHEDULED)), UP, transmissions=[], kills=0),
    case("one from a siphon's", state(daemon(3, 2, hp=1, **CALLED)), UP, enemies=[], kills=300, killsSinceHistory=1),
)
def test_V4_whose_kill_counts(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected

"""Chapter V: moving and attacking."""

from .blocks import credits, data, energy, pickup
from .builders import DOWN, LEFT, RIGHT, UP, state
from .engines import Case, Engine, case, cases, paid
from .movers import CALLED, SCHEDULED, coming, cryptog, daemon, glitch, virus

FAR = daemon(5, 2, frozen=True)
LYING = state(credits(3, 2, 3), energy(4, 2, 2))


@cases(
    case("V1: the first in the line", state(daemon(3, 2, frozen=True), FAR), UP, hps={(3, 2): 2, (5, 2): 3}),
    case("V1: up to the edge", state(FAR), UP, player=(2, 2), hps={(5, 2): 2}),
    case("V1: down to the edge", state(daemon(0, 2, frozen=True)), DOWN, hps={(0, 2): 2}),
    case("V1: left to the edge", state(daemon(2, 0, frozen=True)), LEFT, hps={(2, 0): 2}),
    case("V1: right to the edge", state(daemon(2, 5, frozen=True)), RIGHT, hps={(2, 5): 2}),
    case(
        "V1: across the board", state(daemon(0, 5, frozen=True), player=(0, 0)), RIGHT, player=(0, 0), hps={(0, 5): 2}
    ),
    case("V1: no further", state(daemon(3, 0, frozen=True), player=(2, 4)), RIGHT, player=(2, 5), hps={(3, 0): 3}),
    case("V1: a transmission in front", state(coming("virus", 3, 2), FAR), UP, coming={}, hps={(5, 2): 3}),
    case("V1: an enemy in front", state(coming("virus", 5, 2), daemon(4, 2)), UP, coming={(5, 2): 8}, hps={(4, 2): 2}),
    case("V1: none behind a block", state(data(4, 2), FAR, exit=(0, 0)), UP, player=(3, 2), hps={(5, 2): 3}),
    case("V1: nor a siphoned one", state(data(4, 2, siphoned=True), FAR), UP, player=(3, 2), hps={(5, 2): 3}),
    case("V1: one on a block", state(data(4, 2), glitch(4, 2), FAR), UP, blocks=[(4, 2)], hps={(4, 2): 1, (5, 2): 3}),
    # In the player's row it is visible by O4; that SHOW is off and its last known cell elsewhere changes nothing.
    case("V1: a cryptog", state(cryptog(2, 5, lastKnownRow=5, lastKnownCol=0)), RIGHT, player=(2, 2), hps={(2, 5): 1}),
    case("V2: a survivor does not act", state(daemon(3, 2)), UP, player=(2, 2), hp=3, hps={(3, 2): 2}, kills=0),
    # The flag itself is gone again at the end of the enemy turn (E12); a skipped turn shows it.
    case("V2: and is stunned", state(daemon(3, 2), stepActive=True), UP, stunned=[(3, 2)]),
    case("V2: an attack of 2", state(daemon(5, 2), attackDamage=2), UP, hps={(5, 2): 1}, kills=0),
    case("V2: of 3", state(daemon(5, 2), attackDamage=3), UP, player=(2, 2), hps={}, **paid(kills=1)),
    case("V2: as much as is left", state(daemon(5, 2, hp=2), attackDamage=2), UP, hps={}, **paid(kills=1)),
    case("V2: more than is left", state(daemon(5, 2, hp=1), attackDamage=3), UP, hps={}, **paid(kills=1)),
    case(
        "V3: a pickup", state(pickup(3, 2), pickup(0, 5)), UP, dataSiphons=1, resources=[(0, 5)], **paid(data_siphon=1)
    ),
    case("V3: none under an enemy", state(pickup(3, 2), virus(3, 2, hp=1)), UP, dataSiphons=0, resources=[(3, 2)]),
    case("V3: no amounts", LYING, UP, UP, player=(4, 2), credits=0, energy=0, amounts={(3, 2): (3, 0), (4, 2): (0, 2)}),
    case(
        "V4: no scheduled one's", state(daemon(3, 2, hp=1, **SCHEDULED)), UP, enemies=[], kills=0, killsSinceHistory=0
    ),
    case("V4: nor transmission's", state(coming("virus", 3, 2, **SCHEDULED)), UP, transmissions=[], kills=0),
    case("V4: a siphon's", state(daemon(3, 2, hp=1, **CALLED)), UP, enemies=[], **paid(kills=1), killsSinceHistory=1),
)
def test_V_moving_and_attacking(engine: Engine, case: Case) -> None:
    assert case.seen_by(engine) == case.expected

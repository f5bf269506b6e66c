"""Boards by hand, without an engine's compiled code."""

from collections.abc import Callable
from typing import Any

import pytest

from hackmatrix import jax_env
from rlparity import State
from tests.hackmatrix.rules.blocks import credits, data, energy, pickup, program, question
from tests.hackmatrix.rules.builders import state
from tests.hackmatrix.rules.engines import Entry
from tests.hackmatrix.rules.movers import CALLED, SCHEDULED, coming, cryptog, daemon, glitch, virus

Draw = Callable[..., State]


def whole(given: State) -> State:
    return jax_env.get_state(jax_env.set_state(given))


@pytest.fixture(scope="session")
def model() -> Draw:
    """A complete state with these entries and fields, the player in the middle unless said otherwise."""

    def build(*entries: Entry, **fields: Any) -> State:  # noqa: ANN401 - fields of a state dict
        return whole(state(*entries, **fields))

    return build


@pytest.fixture(scope="session")
def crowded(model: Draw) -> State:
    return model(
        *(virus(5, 0, hp=1, stunned=True, disabledTurns=2), cryptog(4, 0, lastKnownRow=4, lastKnownCol=4, **SCHEDULED)),
        *(cryptog(0, 2), glitch(3, 1, stunned=True), daemon(5, 5)),
        *(coming("daemon", 4, 1, turns=3), coming("virus", 0, 0, turns=1, **CALLED)),
        *(question(3, 0, points=4), program(3, 1, "anti-v"), data(3, 4, points=3, siphoned=True, spawnCount=0)),
        *(data(1, 1, points=9), program(2, 4, "warp")),
        *(pickup(0, 0), pickup(0, 5), credits(1, 1, 2), credits(3, 4, 3) | {"energy": 3}),
        *(credits(2, 0, 2), energy(0, 3, 1)),
        hp=2,
        credits=17,
        energy=9,
        dataSiphons=2,
        attackDamage=2,
        score=41,
        siphoned=((2, 3),),
        centres=((2, 3), (3, 4)),
        owned="hack warp",
        stage=7,
        turn=23,
        nextScheduledTaskTurn=28,
        stepActive=True,
    )

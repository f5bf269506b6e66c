"""Why an action is not valid: a reading of chapter M and table P that agrees with the mask of the Swift engine."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from hackmatrix import jax_env
from hackmatrix.explain.actions import PROGRAM_TABLE, costs_of, obstacle
from hackmatrix.exploration.starts import STARTS
from hackmatrix.rules import ACTIONS, FIRST_PROGRAM, NUM_ACTIONS, SIPHON
from hackmatrix.world import WORLD
from rlparity import BatchEngine, State
from rlworldkit.render.panels import Obstacle
from tests.hackmatrix.rules.blocks import data
from tests.hackmatrix.rules.builders import LEFT, UP, state
from tests.hackmatrix.rules.movers import glitch, virus
from tests.hackmatrix.rules.tables import ACTION

from .conftest import GAMES, ONLY, Paid

COSTS = costs_of(jax_env.rules())
WARP = ACTION["warp"]


def why_not(state: State, action: int) -> str | None:
    found = obstacle(state, action, COSTS)
    return None if found is None else str(found)


def refused(given: State) -> list[Obstacle | None]:
    return [obstacle(given, action, COSTS) for action in range(NUM_ACTIONS)]


def test_M_played_games_meet_every_reason_exactly_where_the_mask_is_false(paid_steps: list[Paid]) -> None:
    states = [step.before for step, _ in paid_steps[: 10 * GAMES]]
    engine = WORLD.engines["swift"](len(states))
    engine.set_state(states, np.arange(len(states)))
    met: Counter[tuple[int, str]] = Counter()
    for given, mask in zip(states, engine.mask().tolist(), strict=True):
        reasons = refused(given)
        assert [reason is None for reason in reasons] == mask
        met.update((action, reason.brief) for action, reason in enumerate(reasons) if reason)
    engine.close()
    own = {(FIRST_PROGRAM + row, program.brief) for row, program in enumerate(PROGRAM_TABLE.values()) if program.brief}
    unreachable = {(ACTIONS.index("EXCH"), "lacks $")}  # who can pay its 4 credits has 4 credits
    assert own - unreachable <= set(met)
    assert {(move, brief) for move, brief in product(range(4), ("edge", "block"))} <= set(met)
    assert met[SIPHON, "none held"]


def test_C4_in_a_game_that_is_over_every_action_has_that_reason(swift: BatchEngine) -> None:
    swift.set_state([STARTS["finished"](np.random.default_rng(0))], ONLY)
    over = swift.get_state(ONLY)[0]
    assert {why_not(over, action) for action in range(NUM_ACTIONS)} == {"the game is over (C4)"}


BLOCK = data(3, 2)
ABLE = {"credits": 9, "energy": 9, "owned": "warp"}


@pytest.mark.parametrize(
    ("start", "action", "reason"),
    [
        (state(BLOCK), UP, "a block stands there (M1)"),
        (state(BLOCK, glitch(3, 2)), UP, None),
        (state(player=(2, 0)), LEFT, "the board ends there (M1)"),
        # The first reason is owning, then paying, then the table.
        (state(), WARP, "not owned (M3)"),
        (state(**ABLE | {"credits": 0, "energy": 1}), WARP, "2 credits and 1 energy short (M3)"),
        (state(**ABLE | {"energy": 1}), WARP, "1 energy short (M3)"),
        (state(**ABLE), WARP, "no enemy or transmission (M3, P-WARP)"),
        (state(virus(0, 0), **ABLE), WARP, None),
    ],
)
def test_M1_M3_why_an_action_is_not_valid(swift: BatchEngine, start: State, action: int, reason: str | None) -> None:
    swift.set_state([start], ONLY)
    assert why_not(swift.get_state(ONLY)[0], action) == reason

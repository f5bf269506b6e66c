"""Why an action is not valid: a reading of chapter M and table P that agrees with the mask of the Swift engine."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from hackmatrix import jax_env
from hackmatrix.explain.actions import PROGRAM_TABLE, costs_of, obstacle
from hackmatrix.rules import ACTIONS, FIRST_PROGRAM, MARKS, NUM_ACTIONS, PROGRAMS, SIPHON
from hackmatrix.world import WORLD
from hackmatrix.world.starts import STARTS
from parity import BatchEngine, State
from worldkit.render.panels import Obstacle

from .corpus import paid_steps

ONLY = np.zeros(1, np.intp)
COSTS = costs_of(jax_env.rules())


def why_not(state: State, action: int) -> str | None:
    found = obstacle(state, action, COSTS)
    return None if found is None else str(found)


def refused(state: State) -> list[Obstacle | None]:
    return [obstacle(state, action, COSTS) for action in range(NUM_ACTIONS)]


def test_M_played_games_meet_every_reason_exactly_where_the_mask_is_false(swift_built: None) -> None:
    games = 64
    engine = WORLD.engines["swift"](games)
    met: Counter[tuple[int, str]] = Counter()
    states = [paid.step.before for paid in paid_steps(engine, steps=10, seed=5)]
    for first in range(0, len(states), games):
        together = states[first : first + games]
        engine.set_state(together, np.arange(games))
        found = [refused(state) for state in together]
        assert [[reason is None for reason in reasons] for reasons in found] == engine.mask().tolist()
        met.update((action, reason.brief) for reasons in found for action, reason in enumerate(reasons) if reason)
    engine.close()
    own = {(FIRST_PROGRAM + row, program.brief) for row, program in enumerate(PROGRAM_TABLE.values()) if program.brief}
    unreachable = {(ACTIONS.index("EXCH"), "lacks $")}  # who can pay its 4 credits has 4 credits
    assert own - unreachable <= set(met)
    assert {(move, brief) for move, brief in product(range(4), ("edge", "block"))} <= set(met)
    assert met[SIPHON, "none held"]


def test_C4_in_a_game_that_is_over_every_action_has_that_reason(swift: BatchEngine) -> None:
    swift.set_state([STARTS["finished"](np.random.default_rng(0))], ONLY)
    state = swift.get_state(ONLY)[0]
    assert {why_not(state, action) for action in range(NUM_ACTIONS)} == {"the game is over (C4)"}


Build = Callable[..., State]


@pytest.fixture
def build(swift: BatchEngine) -> Build:
    """A complete state with the player on (2,2) and nothing else, but what is given."""

    def made(**fields: Any) -> State:  # noqa: ANN401 - fields of a state
        player = {"row": 2, "col": 2, **fields.pop("player", {})}
        swift.set_state([{**fields, "player": player, "exit": {"row": 5, "col": 5}}], ONLY)
        return swift.get_state(ONLY)[0]

    return made


def owning(name: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a state
    player = {"credits": 9, "energy": 9, **fields.pop("player", {})}
    return {"ownedPrograms": [ACTIONS.index(name)], "player": player, **fields}


def test_M1_a_move_is_stopped_by_the_edge_and_by_a_block_without_an_enemy(build: Build) -> None:
    block = {"row": 3, "col": 2, "type": "data", "points": 4}
    assert why_not(build(blocks=[block]), 0) == "a block stands there (M1)"
    assert why_not(build(blocks=[block], enemies=[{"row": 3, "col": 2, "type": "glitch", "hp": 1}]), 0) is None
    assert why_not(build(player={"col": 0}), 2) == "the board ends there (M1)"


def test_M3_the_first_reason_is_owning_then_paying_then_the_table(build: Build) -> None:
    warp = ACTIONS.index("WARP")
    assert why_not(build(), warp) == "not owned (M3)"
    assert why_not(build(**owning("WARP", player={"energy": 1, "credits": 0})), warp) == (
        "2 credits and 1 energy short (M3)"
    )
    assert why_not(build(**owning("WARP", player={"energy": 1})), warp) == "1 energy short (M3)"
    assert why_not(build(**owning("WARP")), warp) == "no enemy or transmission (M3, P-WARP)"
    assert why_not(build(**owning("WARP", enemies=[{"row": 0, "col": 0, "type": "virus", "hp": 1}])), warp) is None


def test_every_reason_fits_the_narrow_column_and_names_rules_that_exist() -> None:
    ids = {*MARKS.values(), *(f"P-{name}" for name in PROGRAMS)}
    for name, start in STARTS.items():
        for seed in range(20):
            state = {"history": None, **start(np.random.default_rng(seed))}
            for found in filter(None, refused(state)):
                assert len(found.brief) <= 11, (name, found)
                assert set(found.rules.split(", ")) <= ids


def test_the_costs_are_those_by_which_the_engine_masks(swift: BatchEngine) -> None:
    for action, cost in COSTS.items():
        for credits, energy in ((cost[0] - 1, cost[1]), (cost[0], cost[1] - 1)):
            if min(credits, energy) < 0:
                continue
            state = {"player": {"row": 2, "col": 2, "credits": credits, "energy": energy}, "ownedPrograms": [action]}
            swift.set_state([state], ONLY)
            assert not swift.mask()[0][action]
            found = obstacle(swift.get_state(ONLY)[0], action, COSTS)
            assert found is not None
            assert re.fullmatch("1 (credits|energy) short", found.reason), ACTIONS[action]

"""The prices of HackMatrix's reward as they are declared, and as all readings of the rules pay them."""

from contextlib import closing

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hackmatrix.explain.readings import readings_of
from hackmatrix.explain.transition import StateTransition
from hackmatrix.prices import PRICES
from hackmatrix.world import WORLD, open_jax, rules_of
from rlparity import EngineOptions, Price
from rlparity.core.prices import draw_prices
from rlparity.testing import assert_lockstep
from rlparity.tools.coverage import coverage_of
from tests.hackmatrix.rules.builders import UP, WAIT, doorstep, random_state, rich, state
from tests.hackmatrix.rules.movers import CALLED, daemon
from tests.hackmatrix.rules.tables import ACTION

FEW, MANY = 8, 64
"""The widths whose programs other tests use: without marks, and with marks."""

COUNTER = 9999  # A7
LARGEST = {
    "step_penalty": 1,
    "score_gain": COUNTER,
    "kills": COUNTER,  # UNDO takes back all since the record (W3)
    "data_siphon": COUNTER,
    "distance_shaping": 35,
    "victory": 1,
    "victory_per_score": COUNTER,
    "resource_gain": 2 * COUNTER,
    "resource_holding": 2 * COUNTER,
    "damage_penalty": 3,
    "hp_recovery": 3,
    "siphon_quality": 2 * 3 * 5,  # the cells of a cross hold at most 3 of each (A3, W2)
    "siphon_death_penalty": 1,
    "program_waste": 1,
} | {f"{name}_{stage}": 1 for name in ("stage_completion", "death_penalty") for stage in range(1, 9)}
"""The greatest quantity of a step that each price can be paid for."""


def test_no_reward_leaves_int32_with_any_prices_in_range() -> None:
    assert LARGEST.keys() == {price.name for price in PRICES}
    assert all(price.low <= price.default <= price.high for price in PRICES)
    assert sum(max(-price.low, price.high) * LARGEST[price.name] for price in PRICES) < 2**31


def values_of(price: Price) -> st.SearchStrategy[int]:
    return st.sampled_from([0, price.default, price.low, price.high]) | st.integers(price.low, price.high)


EVENTFUL = (
    (
        rich(owned="undo", history=state(closestApproach=8), killsSinceHistory=4, pickupsSinceHistory=1),
        ACTION["undo"],
    ),
    (doorstep(hp=2, stage=8, score=9999, credits=9999, energy=9999), UP),
    (state(daemon(2, 3, **CALLED), hp=1, stage=5, owned="wait", energy=1), WAIT),
)
"""States and actions that are paid for by many components: W3, victory, death."""


@settings(max_examples=5, derandomize=True, database=None, deadline=None)
@given(st.tuples(*map(values_of, PRICES)), st.integers(0, 2**32))
@example(tuple(price.low for price in PRICES), 0)
@example(tuple(price.high for price in PRICES), 0)
def test_W_both_engines_and_explain_pay_the_same_at_any_prices(
    swift_built: None, prices: tuple[int, ...], number: int
) -> None:
    rng = np.random.default_rng(number)
    slots, options = np.arange(FEW), EngineOptions(prices=prices)
    starts = [start for start, _ in EVENTFUL] + [random_state(number + more) for more in range(FEW - len(EVENTFUL))]
    with closing(WORLD.engines["swift"](FEW, options)) as swift, closing(open_jax(FEW, options)) as jax:
        for engine in (swift, jax):
            engine.set_state(starts, slots)
        before, valid = swift.get_state(slots), swift.mask()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in valid], np.int32)
        actions[: len(EVENTFUL)] = [action for _, action in EVENTFUL]
        paid, paid_by_jax = swift.step(actions), jax.step(actions)
        after = swift.get_state(slots)
    np.testing.assert_array_equal(paid.components, paid_by_jax.components)
    exact = paid.components.sum(axis=1, dtype=np.int64).astype(np.float32) / np.float32(1000)
    np.testing.assert_array_equal([paid.reward, paid_by_jax.reward], [exact, exact])
    table_w = rules_of("swift", prices)["rewards"]["prices"]
    assert table_w == rules_of("jax", prices)["rewards"]["prices"]
    for old, new, action, values in zip(before, after, actions.tolist(), paid.components.tolist(), strict=True):
        assert values == [reading.value for reading in readings_of(StateTransition(old, new, action), table_w)]


@pytest.mark.long
def test_W_what_is_worth_nothing_leaves_no_mark_on_either_engine(swift_built: None) -> None:
    world = draw_prices(WORLD, 3).with_prices({"step_penalty": 1.5, "kills": 0, "resource_gain": 0})
    outcome = assert_lockstep(world, source="directed", steps=20, games=MANY, seed=3, coverage=0)
    assert outcome.marks is not None
    coverage = coverage_of(world, outcome.marks)
    assert {"W.kills", "W.resource_gain"} <= set(coverage.silent_marks)
    assert not {"W.step_penalty", "V4.kill"} & set(coverage.silent_marks)

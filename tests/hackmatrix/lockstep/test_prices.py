"""The prices of HackMatrix's reward as they are declared, and as the engines take them."""

from hackmatrix.world.prices import PRICES

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

"""Prices of HackMatrix's reward: names, defaults and ranges in thousandths, in the order of table W.

With any prices in their ranges and the greatest quantities that a step can have (A7), the sizes of all components add
up to less than 2**31: no component and no total leaves int32.
"""

from rlparity import Price

_ONCE = 10_000_000
"""Bound of a price that is paid at most three times in a step."""
_COUNTED = 10_000
"""Bound of a price that is paid per unit of a counter of A7, and of a few other prices."""
_PER_SCORE = 100_000
"""Bound of the price per score of a victory, whose default is already as large as int32 allows."""

_TABLE_W = {
    "step_penalty": (_ONCE, -10),
    "stage_completion": (_ONCE, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000),
    "score_gain": (_COUNTED, 500),
    "kills": (_COUNTED, 300),
    "data_siphon": (_COUNTED, 1000),
    "distance_shaping": (_COUNTED, 50),
    "victory": (_ONCE, 500_000),
    "victory_per_score": (_PER_SCORE, 100_000),
    "death_penalty": (_ONCE, 0, -500, -1500, -3500, -7500, -15_500, -31_500, -63_500),
    "resource_gain": (_COUNTED, 50),
    "resource_holding": (_COUNTED, 10),
    "damage_penalty": (_ONCE, -1000),
    "hp_recovery": (_ONCE, 1000),
    "siphon_quality": (_COUNTED, -25),
    "siphon_death_penalty": (_ONCE, -10_000),
    "program_waste": (_ONCE, -300),
}
"""Name -> the bound of its prices, and their defaults: one, or those of stages 1 to 8."""

PRICES = tuple(
    Price(f"{name}_{stage}" if len(defaults) > 1 else name, default, -bound, bound)
    for name, (bound, *defaults) in _TABLE_W.items()
    for stage, default in enumerate(defaults, start=1)
)
"""Prices, named as in ``_TABLE_W``; prices per stage are ``NAME_1`` to ``NAME_8``."""

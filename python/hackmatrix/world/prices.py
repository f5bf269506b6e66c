"""Prices of HackMatrix's reward: names, defaults and ranges in thousandths, in the order of table W.

With any prices in their ranges and the greatest quantities that a step can have (A7), the sizes of all components add
up to less than 2**31: no component and no total leaves int32.
"""

from hackmatrix.rules import NUM_STAGES
from parity import Price

_ONCE = 10_000_000
"""Bound of a price that is paid at most three times in a step."""
_COUNTED = 10_000
"""Bound of a price for each of what a counter of A7 holds, and of a few more."""
_PER_SCORE = 100_000
"""Bound of a victory's price of a score, which by the rules is as great as int32 allows."""

_STAGE_COMPLETION = (1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000)
_DEATH_PENALTY = (0, -500, -1500, -3500, -7500, -15_500, -31_500, -63_500)


def _price(name: str, default: int, bound: int, purpose: str) -> Price:
    return Price(name, default, -bound, bound, purpose)


def _stages(name: str, defaults: tuple[int, ...], purpose: str) -> list[Price]:
    numbered = zip(range(1, NUM_STAGES + 1), defaults, strict=True)
    return [_price(f"{name}_{stage}", default, _ONCE, f"{purpose} {stage}") for stage, default in numbered]


PRICES: tuple[Price, ...] = (
    _price("step_penalty", -10, _ONCE, "each valid action"),
    *_stages("stage_completion", _STAGE_COMPLETION, "completing stage"),
    _price("score_gain", 500, _COUNTED, "each point of score gained"),
    _price("kills", 300, _COUNTED, "each kill"),
    _price("data_siphon", 1000, _COUNTED, "each data siphon picked up"),
    _price("distance_shaping", 50, _COUNTED, "each cell nearer to the exit than ever in this stage"),
    _price("victory", 500_000, _ONCE, "winning"),
    _price("victory_per_score", 100_000, _PER_SCORE, "each point of score on winning"),
    *_stages("death_penalty", _DEATH_PENALTY, "death in stage"),
    _price("resource_gain", 50, _COUNTED, "each credit or energy gained, taken back when spent"),
    _price("resource_holding", 10, _COUNTED, "each credit or energy held on completing a stage"),
    _price("damage_penalty", -1000, _ONCE, "each hp lost"),
    _price("hp_recovery", 1000, _ONCE, "each hp gained"),
    _price("siphon_quality", -25, _COUNTED, "each credit or energy that a better place would have given a siphon"),
    _price("siphon_death_penalty", -10_000, _ONCE, "death with an enemy of a siphon adjacent"),
    _price("program_waste", -300, _ONCE, "RESET at hp 2"),
)
"""A component's one price has its name; of the others, ``NAME_1`` to ``NAME_8`` are those of the stages."""

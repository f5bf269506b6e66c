"""The canonical engine's tables: prices, potentials, and how cells appear to an agent (G1, G7, G9, G12)."""

from typing import NamedTuple

from goodharts.rules import Mode, Numbers

POTENTIALS = (333, 200, 143, 111, 91)
"""Potentials of the nearest food in view at a king's distance of 1 … 5, in thousandths (G9)."""
DISCOUNT = 99
"""Discount of a potential after a step, in hundredths (G9)."""


class Prices(NamedTuple):
    """Prices of a step, of food and poison, and of a death, in hundred-thousandths (G12)."""

    step: int
    food: int
    poison: int
    death: int


PRICES = {
    "energy": Prices(step=-1000, food=100_000, poison=-200_000, death=-400_000),
    "interest": Prices(step=0, food=100_000, poison=50_000, death=0),
    "handhold": Prices(step=-1000, food=100_000, poison=-100_000, death=-200_000),
}
"""Default prices of the game for each kind of reward; the worlds declare these."""


def channels(mode: Mode, numbers: Numbers) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Values of an empty cell, of food and of poison in each of the two channels (G7)."""
    if mode.sees_truth:
        return (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    interest = (0.0, numbers.food_interest / 1000, numbers.poison_interest / 1000)
    return interest, interest

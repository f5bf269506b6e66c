"""The canonical engine's own tables: what things are worth, and what an agent sees of them (G1, G7, G9, G12)."""

from dataclasses import dataclass
from typing import assert_never

from goodharts.rules import Mode, Numbers

PRICES_PER_ENERGY = 100
"""Hundred-thousandths in a thousandth."""
POTENTIALS = (333, 200, 143, 111, 91)
"""Of the nearest food in view at a king's distance of 1 … 5, in thousandths (G9)."""
DISCOUNT = 99
"""Of a potential after a step, in hundredths (G9)."""


@dataclass(frozen=True)
class Prices:
    """Prices of a step, of food and poison, and of a death, in hundred-thousandths (G12)."""

    step: int
    food: int
    poison: int
    death: int


def prices(mode: Mode, numbers: Numbers) -> Prices:
    """The prices of a mode."""
    match mode.rewarded_for:
        case "handhold":
            eaten = numbers.handhold_food_price, numbers.handhold_poison_price
            return Prices(numbers.handhold_step_price, *eaten, numbers.handhold_death_price)
        case "interest":
            worth = numbers.food_interest * PRICES_PER_ENERGY, numbers.poison_interest * PRICES_PER_ENERGY
            return Prices(0, *worth, 0)
        case "energy":
            energies = -numbers.step_energy, numbers.food_energy, numbers.poison_energy
            step, food, poison = (PRICES_PER_ENERGY * energy for energy in energies)
            return Prices(step, food, poison, numbers.death_price)
        case unknown:
            assert_never(unknown)


def channels(mode: Mode, numbers: Numbers) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Values of an empty cell, of food and of poison in each of the two channels (G7)."""
    if mode.sees_truth:
        return (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    interest = (0.0, numbers.food_interest / 1000, numbers.poison_interest / 1000)
    return interest, interest

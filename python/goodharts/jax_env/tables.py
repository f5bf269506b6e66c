"""This engine's own tables: which game is played, what it pays, and how near food beckons (G9, G12)."""

from typing import NamedTuple, assert_never

from goodharts.rules import DEFAULT_NUMBERS, Mode, Numbers

POTENTIALS = (333, 200, 143, 111, 91)
"""In thousandths, of the nearest food at a king's distance of 1, 2, 3, 4 and 5."""


class Variant(NamedTuple):
    """A mode, in training or by the rules of an evaluation (G6), where everybody is mortal.

    numbers: of its world (G9).
    """

    mode: Mode
    evaluating: bool = False
    numbers: Numbers = DEFAULT_NUMBERS

    @property
    def is_mortal(self) -> bool:
        """True if energy changes, and ends lives (G5)."""
        return self.mode.is_mortal or self.evaluating

    @property
    def is_shaped(self) -> bool:
        """True if potentials are paid for (G9)."""
        return self.mode.rewarded_for == "handhold"


class Prices(NamedTuple):
    """Prices of a step, a piece of food or poison, and a death, in hundred-thousandths."""

    step: int
    food: int
    poison: int
    death: int


def prices(variant: Variant) -> Prices:
    """By what its mode is rewarded for (G12); an energy or interestingness is worth a hundred times its thousandths."""
    numbers = variant.numbers
    match variant.mode.rewarded_for:
        case "energy":
            food, poison = 100 * numbers.food_energy, 100 * numbers.poison_energy
            return Prices(-100 * numbers.step_energy, food, poison, numbers.death_price)
        case "interest":
            return Prices(0, 100 * numbers.food_interest, 100 * numbers.poison_interest, 0)
        case "handhold":
            food, poison = numbers.handhold_food_price, numbers.handhold_poison_price
            return Prices(numbers.handhold_step_price, food, poison, numbers.handhold_death_price)
        case unknown:
            assert_never(unknown)

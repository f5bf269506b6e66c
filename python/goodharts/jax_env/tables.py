"""This engine's own tables: which game is played, what it pays, and how near food beckons (G9, G12)."""

from typing import NamedTuple

from goodharts.rules import DEFAULT_NUMBERS, Mode

NUMBERS = DEFAULT_NUMBERS
"""The rules' own: this engine plays no others."""
POTENTIALS = (333, 200, 143, 111, 91)
"""In thousandths, of the nearest food at a king's distance of 1, 2, 3, 4 and 5."""


class Variant(NamedTuple):
    """Which game: a mode, in training or by the rules of an evaluation (G6), where everybody is mortal."""

    mode: Mode
    evaluating: bool = False

    @property
    def is_mortal(self) -> bool:
        """Whether energy changes, and ends lives (G5)."""
        return self.mode.is_mortal or self.evaluating

    @property
    def is_shaped(self) -> bool:
        """Whether potentials are paid for (G9)."""
        return self.mode.rewarded_for == "handhold"


class Prices(NamedTuple):
    """What a step, a piece of food or poison, and a death are worth, in hundred-thousandths."""

    step: int
    food: int
    poison: int
    death: int


PRICES = {
    "energy": Prices(
        step=-100 * NUMBERS.step_energy,
        food=100 * NUMBERS.food_energy,
        poison=100 * NUMBERS.poison_energy,
        death=NUMBERS.death_price,
    ),
    "interest": Prices(step=0, food=100 * NUMBERS.food_interest, poison=100 * NUMBERS.poison_interest, death=0),
    "handhold": Prices(
        step=NUMBERS.handhold_step_price,
        food=NUMBERS.handhold_food_price,
        poison=NUMBERS.handhold_poison_price,
        death=NUMBERS.handhold_death_price,
    ),
}
"""By what a mode is rewarded for (G12). An energy or interestingness in thousandths is worth a hundred times that."""

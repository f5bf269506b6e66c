"""The JAX engine's tables: variants of the game, prices, and potentials of food (G9, G12)."""

from typing import NamedTuple

import numpy as np

from goodharts.rules import DEFAULT_NUMBERS, Mode, Numbers

POTENTIALS = (333, 200, 143, 111, 91)
"""Potentials of the nearest food at a king's distance of 1, 2, 3, 4 and 5, in thousandths."""


class Variant(NamedTuple):
    """A mode in a world (G9), in training or by the rules of an evaluation (G6), where all agents are mortal."""

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


PRICES = {
    "energy": np.array([-1000, 100_000, -200_000, -400_000], np.int32),
    "interest": np.array([0, 100_000, 50_000, 0], np.int32),
    "handhold": np.array([-1000, 100_000, -100_000, -200_000], np.int32),
}
"""Prices of a step, of food, of poison and of a death (G12), for each kind of reward."""

"""Interface of policies and agents: their inputs and outputs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rlparity.engine import Array, Slots, State


@dataclass(frozen=True)
class View:
    """View of a policy: some games of the reference engine, before their next action.

    observation: (k, *observation shape); mask: (k, actions) bool; slots: (k,) slots of these games.
    """

    observation: Array
    mask: NDArray[np.bool_]
    slots: Slots
    read_states: Callable[[Slots], list[State]]

    def states(self) -> list[State]:
        """Complete states of the k games, fetched when called, which is slow for big batches."""
        return self.read_states(self.slots)

    def part(self, rows: Slots) -> Self:
        """The view of some of these games."""
        return replace(self, observation=self.observation[rows], mask=self.mask[rows], slots=self.slots[rows])


Policy = Callable[[View], Array]
"""Function of a view that returns non-negative weights (k, actions), which need not sum to 1; invalid actions are
masked afterwards. A row without weight on a valid action means uniform."""

Judge = Callable[[Array, NDArray[np.bool_]], tuple[Array, Array]]
"""Agent: observations (k, *shape) and masks (k, actions) → logits (k, actions) and values (k,)."""

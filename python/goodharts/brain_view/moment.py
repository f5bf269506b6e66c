"""What can be seen of an agent at one moment, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goodharts.rules import EMPTY, FOOD, POISON

HORIZON = 15
"""How far around the agent a moment shows the grid, in cells; the agent itself sees less (G7)."""
REMEMBERED = 240
"""How many of the latest moments' energies a moment tells."""


class Activation(NamedTuple):
    """What a layer of the policy made of the observation: float32 (depth, 11, 11) or (units,)."""

    name: str
    values: NDArray[np.float32]


class Sample(NamedTuple):
    """The energy at one of the latest moments, and the life it belonged to."""

    life: int
    energy: float


@dataclass(frozen=True, eq=False)
class Moment:
    """An agent between two steps: it has looked, and decided what to do next. A dead one will not do it.

    around: int8 (31, 31), what the cells around it hold, itself in the middle; x, y: its own cell.
    trail: where it was in its latest steps of this life, as (dx, dy) from where it is, oldest first.
    channels: float32 (2, 11, 11), its observation (G7). activations: layer by layer, the last being the logits.
    probabilities: float32 (8,), of the actions; action: the one that it takes next.
    value: what its critic expects of the future, in units of reward.
    energy: now; energies: at the latest moments, oldest first, this one the last.
    life: counted from 1; age: steps of this life; steps: of all lives. deaths, food, poison: in all lives.
    ate: what it ate in the step that led here, EMPTY for nothing.
    is_dead: whether that step killed it: the next moment is another life.
    """

    around: NDArray[np.int8]
    x: int
    y: int
    trail: tuple[tuple[int, int], ...]
    channels: NDArray[np.float32]
    activations: tuple[Activation, ...]
    probabilities: NDArray[np.float32]
    action: int
    value: float
    energy: float
    energies: tuple[Sample, ...]
    life: int
    age: int
    steps: int
    deaths: int
    food: int
    poison: int
    ate: int
    is_dead: bool

    ending: ClassVar[str | None] = None
    """A death is a moment like any other, after which the next life begins."""

    @property
    def news(self) -> str:
        """What has just happened, in a few words; nothing, mostly."""
        if self.is_dead:
            return f"died at the age of {self.age:,}, {'poisoned' if self.ate == POISON else 'starved'}"
        if self.age == 0:
            return f"life {self.life} begins"
        return "" if self.ate == EMPTY else "ate food" if self.ate == FOOD else "ate poison"

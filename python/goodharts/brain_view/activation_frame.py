"""One frame of a brain view: what an agent sees, decides and computes, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parity import State
from worldkit.watch.frames import Decision

HORIZON = 15
"""How far around the agent a moment shows the grid, in cells; the agent itself sees less (G7)."""
REMEMBERED = 240
"""How many of the latest moments' energies a moment tells."""

Activation = tuple[str, NDArray[np.float32]]
"""A layer of the policy, and what it made of the observation: (depth, 11, 11) or (units,)."""


class Sample(NamedTuple):
    """The energy at one of the latest moments, and the life it belonged to."""

    life: int
    energy: float


@dataclass(frozen=True, eq=False)
class ActivationFrame:
    """An agent between two steps: it has looked, and decided what to do next. A dead one will not do it.

    state: complete (G13). channels: float32 (2, 11, 11), its observation (G7).
    activations: layer by layer, the last being the logits.
    decision: what it does next, how likely each action was, and what its critic expects, in units of reward.
    trail: where it was in its latest steps of this life, as (dx, dy) from where it is, oldest first.
    energies: at the latest moments, oldest first, now the last.
    life: counted from 1; steps: of all lives. deaths, food, poison: in all lives.
    ate_food, ate_poison: in the step that led here. is_dead: it killed it, and the next moment is another life.
    """

    state: State
    channels: NDArray[np.float32]
    activations: tuple[Activation, ...]
    decision: Decision
    trail: tuple[tuple[int, int], ...]
    energies: tuple[Sample, ...]
    life: int
    steps: int
    deaths: int
    food: int
    poison: int
    ate_food: bool
    ate_poison: bool
    is_dead: bool

    ending: ClassVar[str | None] = None
    """A death is a moment like any other, after which the next life begins."""

    @property
    def place(self) -> tuple[int, int]:
        """Its column and row."""
        return self.state["x"], self.state["y"]

    @property
    def age(self) -> int:
        """Steps of this life."""
        return int(self.state["steps"])

    @property
    def news(self) -> str:
        """What has just happened, in a few words; nothing, mostly."""
        if self.is_dead:
            return f"died at the age of {self.age:,}, {'poisoned' if self.ate_poison else 'starved'}"
        if self.age == 0:
            return f"life {self.life} begins"
        return "ate food" if self.ate_food else "ate poison" if self.ate_poison else ""

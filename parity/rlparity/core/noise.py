"""Noise of a field: how it varies when an engine plays the same games twice, and the tolerance that covers it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlparity.spaces import is_number
from rlparity.tolerance import Tolerance

MARGIN, WIDEST = 2, 10
"""Times the floor: the tolerance that is proposed, and the widest that says something."""
_FEW_ULPS = 64


@dataclass
class Noise:
    """How a field varies: in how many places of games and steps, and by how much at most; infinite: not by numbers."""

    field: str
    places: int = 0
    absolute: float = 0.0
    ulps: float = 0.0

    def add(self, expected: object, observed: object) -> None:
        """Take two values that should be equal."""
        self.places += 1
        if not (is_number(expected) and is_number(observed)) or type(expected) is not type(observed):
            self.absolute = self.ulps = np.inf
            return
        one, other = float(expected), float(observed)  # type: ignore[arg-type]
        distance, size = abs(one - other), np.float32(max(abs(one), abs(other)))
        self.absolute = max(self.absolute, distance)
        self.ulps = max(self.ulps, float(np.ceil(distance / float(np.spacing(size)))))

    def tolerance(self, engine: str, runs: int) -> Tolerance | None:
        """The tolerance that covers it; None where no number does."""
        if not np.isfinite(self.absolute):
            return None
        reason = f"{engine} against itself varies by {self.absolute:.2g} in {runs} runs"
        if self.ulps <= _FEW_ULPS:
            return Tolerance(ulps=MARGIN * int(self.ulps), reason=reason)
        return Tolerance(absolute=float(f"{MARGIN * self.absolute:.1e}"), reason=reason)

"""What a user sees of the differences of two engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parity.engine import Array
from parity.report import counted
from parity.table import Records

_Z = 1.959964


@dataclass(frozen=True)
class Effect:
    """What a user sees of the differences of two engines, in one episode of each game.

    first (games,): the actions before what is shown first differed; -1 where it never did.
    measures: return, length and, as 0 or 1, terminated and truncated, (2, games) by engine.
    """

    first: NDArray[np.int64]
    measures: Mapping[str, NDArray[np.float64]]

    def records(self, engines: tuple[str, str]) -> Records:
        """Means with 95% intervals, of the difference that of the paired games, and when differences begin."""
        rows = [
            (name, *map(mean_interval, (*sides, sides[1] - sides[0])), int((sides[0] != sides[1]).sum()))
            for name, sides in self.measures.items()
        ]
        seen = self.first[self.first >= 0]
        note = f"What is shown differs in {len(seen):,} of {len(self.first):,} games"
        if seen.size:
            first = counted(int(seen.min()), "action")
            note += f", first after {first}, in the median game after {np.median(seen):,.0f}"
        one, other = engines
        header = "of an episode", one, other, f"{other} - {one}", "games that differ"
        return Records("effect", "What a user sees", header, rows, f"{note}.")

    def values(self, engines: tuple[str, str]) -> dict[str, object]:
        """The table, and of each game that differs after how many actions it first does, as JSON values."""
        return {"measures": self.records(engines).values(), "first": sorted(self.first[self.first >= 0].tolist())}


def mean_interval(values: Array) -> list[float]:
    """The mean of values (n,) and its 95% normal interval, which is infinitely wide for a single value."""
    mean = float(np.mean(values))
    margin = _Z * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return [mean, mean - margin, mean + margin]

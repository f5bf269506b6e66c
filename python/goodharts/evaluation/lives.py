"""What is kept of an evaluation: one row for each life (G11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Lives:
    """``n`` lives, the games in order and within a game one after the other.

    game: int64 (n,), whose life it was. steps: int64 (n,), at least 1. food, poison: int64 (n,), how many were eaten.
    energy: int64 (n,), gained in thousandths, not counting what it began with. died: bool (n,); false: it was still
    going on when the evaluation ended, and is censored.
    """

    game: NDArray[np.int64]
    steps: NDArray[np.int64]
    food: NDArray[np.int64]
    poison: NDArray[np.int64]
    energy: NDArray[np.int64]
    died: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.game)

    def of_first(self, games: int) -> Lives:
        """The lives of the first so many games."""
        return self._rows(np.flatnonzero(self.game < games))

    def in_order(self) -> Lives:
        """The same lives, game by game; those of a game stay in the order in which they are."""
        return self._rows(np.argsort(self.game, kind="stable"))

    def _rows(self, rows: NDArray[np.intp]) -> Lives:
        return Lives(*(getattr(self, field.name)[rows] for field in fields(self)))


def joined(parts: Sequence[Lives]) -> Lives:
    """The lives of several parts, one after the other."""
    return Lives(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Lives)))

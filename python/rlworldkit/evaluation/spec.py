"""How far a search looks ahead, and what it and players are made of."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import ArrayLike, NDArray

from rlparity.io.arguments import Values

Logits = Callable[[NDArray[Any]], ArrayLike]
"""Observations (n, *shape) → logits float32 (n, actions), an array of any library that numpy can read."""


class Lookahead(NamedTuple):
    """rollouts: games that are played on after each action that is tried. steps: how far each of them is played on."""

    rollouts: int
    steps: int

    def __str__(self) -> str:
        return f"{self.rollouts}×{self.steps}"


@dataclass(frozen=True)
class Lookaheads(Values):
    """``ROLLOUTSxSTEPS`` with ``x`` or ``×``, at least two rollouts, since one does not tell how much is chance."""

    most: int

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        """Anything but a Lookahead within the range."""
        fits = isinstance(value, Lookahead) and 2 <= value.rollouts <= self.most and 1 <= value.steps <= self.most
        return None if fits else f"must be ROLLOUTSxSTEPS, such as 8x16, {self.span()}"

    def span(self) -> str:
        """From … to …."""
        return f"2 to {self.most:,} rollouts of 1 to {self.most:,} steps"

    def read(self, word: str) -> Lookahead:
        """The numbers on either side of the cross."""
        found = re.fullmatch(r"([0-9]{1,9})[x×]([0-9]{1,9})", word)
        if found is None:
            raise ValueError(word)
        return Lookahead(int(found[1]), int(found[2]))


LOOKAHEAD = Lookaheads(1000)

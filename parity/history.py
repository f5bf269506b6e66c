"""The course of every game of a lockstep run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parity.engine import State
from parity.spaces import action_numbers
from parity.trace import Action, Case

TRIM_EVERY = 1024


class History:
    """Actions in every slot since its present game began."""

    def __init__(self, games: int, *, marks: bool, auto_reset: bool) -> None:
        self._rows: list[NDArray[Any]] = []
        self._trimmed = 0
        self._begun = np.zeros(games, dtype=np.int64)
        self._starts: list[int | State] = [0] * games
        self._blank = Case((), marks=marks, auto_reset=auto_reset)

    def begin(self, slot: int, start: int | State) -> None:
        """A game begins in ``slot`` from a seed or a state."""
        self._begun[slot] = self._trimmed + len(self._rows)
        self._starts[slot] = start

    def add(self, actions: NDArray[Any]) -> None:
        """All games took an action."""
        self._rows.append(actions)
        if len(self._rows) % TRIM_EVERY == 0:
            unneeded = int(self._begun.min()) - self._trimmed
            del self._rows[:unneeded]
            self._trimmed += unneeded

    def last(self, slot: int) -> Action | None:
        """The last action of the game in ``slot``; None before its first."""
        is_new = self._begun[slot] == self._trimmed + len(self._rows)
        return None if is_new else action_numbers(self._rows[-1][slot])

    def case(self, slot: int, *then: Action) -> Case:
        """The course of the game in ``slot``, and what was done ``then``."""
        rows = self._rows[int(self._begun[slot]) - self._trimmed :]
        start = self._starts[slot]
        actions = (*(action_numbers(row[slot]) for row in rows), *then)
        case = replace(self._blank, actions=actions)
        return replace(case, seed=start) if isinstance(start, int) else replace(case, state=start)

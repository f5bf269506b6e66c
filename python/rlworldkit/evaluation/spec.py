"""``EvaluationSpec``: a world as it is evaluated, beyond its environments."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlparity import State
from rlparity.io.arguments import Values
from rlworldkit.envs.spec import EnvSpec
from rlworldkit.envs.statistics import Summary

Player = Callable[[NDArray[Any], NDArray[np.bool_], NDArray[np.uint64], NDArray[np.int64]], NDArray[np.int32]]
"""Observations (n, *shape), masks bool (n, actions), seeds uint64 (n,), steps (n,) → valid actions int32 (n,)."""

Logits = Callable[[NDArray[Any]], ArrayLike]
"""Observations (n, *shape) → logits float32 (n, actions), an array of any library that numpy can read."""

Figures = dict[str, Any]
"""Statistics of many episodes: plain values by name."""

Rows = list[tuple[str, str]]
"""Lines of a table: name and value."""


@dataclass(frozen=True)
class Episode:
    """One episode, in units of the reward.

    ending: what the world calls how it ended; ``terminated`` where it has no name for that, or ``truncated``.
    stats: as ``info["episode_stats"]``.
    uses, openings, at_once: for each action how often it was taken, how often it became valid after it was not (or at
        the start), and how often it was taken in that very step.
    notes: what the world noted at the end.
    """

    seed: int
    ending: str
    stats: Summary
    uses: tuple[int, ...]
    openings: tuple[int, ...]
    at_once: tuple[int, ...]
    notes: Mapping[str, Any]


@dataclass(frozen=True)
class EvaluationSpec:
    """A world as it is evaluated. Only ``env`` is required.

    env: the world.
    endings: event -> what an episode that ended with it is called; the first that happened counts.
    players: players that the world has written, by name, beside rlworldkit's ``random``.
    policy_of: the logits that trained parameters in a file give; raises ParityError where it cannot be used.
    notes: what to keep of an episode, by its ending and its last state.
    actions: the actions whose uses are reported; None: all.
    figures: the figures that are reported, from the general ones and the episodes.
    rows: the lines of the overview, from the general ones and the figures.
    """

    env: EnvSpec
    endings: Mapping[str, str] = field(default_factory=dict)
    players: Mapping[str, Player] = field(default_factory=dict)
    policy_of: Callable[[Path], Logits] | None = None
    notes: Callable[[str, State], Mapping[str, Any]] = lambda ending, state: {}
    actions: tuple[str, ...] | None = None
    figures: Callable[[Figures, Sequence[Episode]], Figures] = lambda general, episodes: general
    rows: Callable[[Rows, Figures], Rows] = lambda general, figures: general


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

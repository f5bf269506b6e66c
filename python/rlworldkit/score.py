"""``Score``: what episodes of a world are reported by, and the record of an episode."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlparity import State, World
from rlparity.engine import Array
from rlworldkit.runs.sinks import Milestone

Summary = dict[str, Any]
"""Statistics by name; the leaves of a tree of dicts are arrays with one value for each episode, or plain numbers."""

Figures = dict[str, Any]
"""Statistics of many episodes: plain values by name."""

Rows = list[tuple[str, str]]
"""Lines of a table: name and value."""


class Counts(NamedTuple):
    """The counts of k episodes.

    components: (k, components) float64, their sums in the world's unit; actions: (k, actions) int64, how often each
    was taken; maxima: (k, facts) the highest value of each fact, that at the start included; steps: (k,) int64;
    events: (k, events) int64, how often each of the world's ``counted_events`` happened.
    """

    components: NDArray[np.float64]
    actions: NDArray[np.int64]
    maxima: Array
    steps: NDArray[np.int64]
    events: NDArray[np.int64]


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
class Score:
    """What episodes of a world are reported by, in training and evaluation; everything has a default.

    endings: event -> what an episode that ended with it is called; the first that happened counts.
    statistics: what the world adds to ``info["episode_stats"]``, or puts in place of what stands there.
    metrics: what a trainer logs of the episodes that ended in a rollout, by their ``episode_stats``, besides return,
        length and components.
    milestone: the metric by which people follow a run besides its return.
    notes: what to keep of an episode, by its ending and its last state.
    actions: the actions whose uses are reported; None: all.
    figures: the figures that are reported, from the general ones and the episodes.
    rows: the lines of the overview, from the general ones and the figures.
    """

    endings: Mapping[str, str] = field(default_factory=dict)
    statistics: Callable[[Counts], Summary] = lambda counts: {}
    metrics: Callable[[Sequence[Summary]], dict[str, float]] = lambda summaries: {}
    milestone: Milestone | None = None
    notes: Callable[[str, State], Mapping[str, Any]] = lambda ending, state: {}
    actions: tuple[str, ...] | None = None
    figures: Callable[[Figures, Sequence[Episode]], Figures] = lambda general, episodes: general
    rows: Callable[[Rows, Figures], Rows] = lambda general, figures: general


def score_of(world: World) -> Score:
    """What episodes of this world are reported by."""
    return _opened(world.score)


@cache  # every ending asks
def _opened(open_score: Callable[[], Score] | None) -> Score:
    return open_score() if open_score else Score()

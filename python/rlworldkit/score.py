"""``Score``: how the episodes of a world are reported, and the record of an episode."""

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
"""Statistics by name: a tree of dicts whose leaves are arrays with one value per episode, or plain numbers."""

Figures = dict[str, Any]
"""Statistics of many episodes: plain values by name."""

Rows = list[tuple[str, str]]
"""Lines of a table: name and value."""


class Counts(NamedTuple):
    """Counts of k episodes.

    components: (k, components) float64, sums in the world's unit; actions: (k, actions) int64, how often each was
    taken; maxima: (k, facts), the highest value of each fact, including the value at the start; steps: (k,) int64;
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

    ending: the world's name for the ending; if it has none, ``terminated`` or ``truncated``.
    stats: the same values as in ``info["episode_stats"]``.
    uses, openings, at_once: for each action, how often it was taken, how often it became valid (being valid at the
        start counts), and how often it was taken in the step in which it became valid.
    notes: the values that ``Score.notes`` kept at the end.
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
    """How the episodes of a world are reported in training and evaluation; everything has a default.

    endings: event of an episode's last step -> name of the ending; the first listed event that happened decides.
    statistics: returns entries that are added to ``info["episode_stats"]`` or replace entries of it.
    metrics: maps the ``episode_stats`` of the episodes that ended in a rollout to the metrics that a trainer logs
        besides return, length and components.
    milestone: the metric that is shown during a run besides its return.
    notes: returns the values to keep of an episode, given its ending and its last state.
    actions: the actions whose uses are reported; None: all.
    figures: returns the reported figures, given the general ones and the episodes.
    rows: returns the lines of the overview, given the general ones and the figures.
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
    """The score of this world, or the default one."""
    return _opened(world.score)


@cache  # it is called at the end of every episode
def _opened(open_score: Callable[[], Score] | None) -> Score:
    return open_score() if open_score else Score()

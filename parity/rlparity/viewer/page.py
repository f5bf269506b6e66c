"""Dataclasses for the content of a page of episodes, independent of any particular world.

Steps are counted from 0, which is the start; episodes are counted from 0 in the order in which they are iterated.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rlparity.core.compare import Difference
from rlparity.io.table import Records
from rlparity.world import Board

Number = int | float


@dataclass(frozen=True)
class PageDecision:
    """An agent's decision before a step.

    probabilities: of the valid actions, by the names in ``PageStep.action``; the page keeps four digits of each.
    value: the agent's value estimate; None: it has none.
    """

    probabilities: Mapping[str, float]
    value: float | None = None


@dataclass(frozen=True)
class PageStep:
    """An episode after its start, or after one action.

    action: its displayed name, ``start`` for the first. boards: one for each side of the page.
    components: reward components of the action on each side, in the engines' units; None at the start.
    decision: the decision that chose the action. differences: between the sides.
    marks: the rule marks that fired on each side; None where they were not counted.
    """

    action: str
    boards: tuple[Board, ...]
    components: tuple[tuple[Number, ...], ...] | None = None
    decision: PageDecision | None = None
    differences: tuple[Difference, ...] = ()
    marks: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True)
class End:
    """End of an episode, for the overview of many.

    level: the level reached, such as ``stage 3``. cause: in a word or two, such as ``hunger``.
    row, column: cell of the drawn board, row 0 at the top.
    """

    level: str
    cause: str
    row: int
    column: int


@dataclass(frozen=True)
class PageEpisode:
    """One game from its start to its end; its steps are iterated once, before the next episode.

    name: such as ``seed 17``. verdict: its result in one line. end: how it ended, for the overview.
    in_batch: differences that showed only in a batch with other games, when no step of this episode differs.
    is_expected: the sides differ only where they are expected to.
    """

    name: str
    verdict: str
    steps: Iterable[PageStep]
    end: End | None = None
    in_batch: tuple[Difference, ...] = ()
    is_expected: bool = False


@dataclass(frozen=True)
class Curve:
    """Metric of a run over its environment steps, in equally long tuples; NaN and infinity are left out."""

    name: str
    steps: tuple[Number, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Page:
    """A whole page. Episodes are iterated and compressed one by one, so that thousands need little memory.

    sides: names of the boards of a step: two engines, or one. about: sentences under the headline.
    command: command line that reproduces the page. curves: the most important first; the page folds all but a few.
    tables: results over all episodes.
    """

    headline: str
    sides: tuple[str, ...]
    episodes: Iterable[PageEpisode]
    about: tuple[str, ...] = ()
    command: str = ""
    curves: tuple[Curve, ...] = ()
    tables: tuple[Records, ...] = ()

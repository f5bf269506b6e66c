"""Content of a page of episodes, as values; it knows no world but through ``rlparity.World``.

Steps are counted from 0, which is the start; episodes are counted from 0 in the order in which they are taken.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rlparity.core.compare import Difference
from rlparity.io.table import Records
from rlparity.world import Board

Number = int | float


@dataclass(frozen=True)
class Decision:
    """An agent's decision before a step.

    probabilities: of the valid actions, by the names that ``Step.action`` has; the page holds four digits of each.
    value: what it expected to earn from there on; None: it has no say.
    """

    probabilities: Mapping[str, float]
    value: float | None = None


@dataclass(frozen=True)
class Step:
    """An episode after its start, or after one action.

    action: how people call it, ``start`` for the first. boards: one for each side of the page.
    components: what the action earned on each side, as the engines give it; None at the start.
    decision: whose probabilities led here. differences: where the sides part.
    marks: the rule marks that fired on each side, where they were counted.
    """

    action: str
    boards: tuple[Board, ...]
    components: tuple[tuple[Number, ...], ...] | None = None
    decision: Decision | None = None
    differences: tuple[Difference, ...] = ()
    marks: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True)
class End:
    """End of an episode, for the overview of many.

    level: how far it had come, such as ``stage 3``. cause: in a word or two, such as ``hunger``.
    row, column: where on the drawn board, row 0 on top.
    """

    level: str
    cause: str
    row: int
    column: int


@dataclass(frozen=True)
class Episode:
    """One game from its start to its end; its steps are taken once, before the next episode is asked for.

    name: such as ``seed 17``. verdict: what came of it, in a line. end: how it ended, for the overview.
    in_batch: differences that showed among other games only, when the two sides did not part at any of these steps.
    is_expected: the sides differ only where they are meant to.
    """

    name: str
    verdict: str
    steps: Iterable[Step]
    end: End | None = None
    in_batch: tuple[Difference, ...] = ()
    is_expected: bool = False


@dataclass(frozen=True)
class Curve:
    """A figure of a run over its environment steps, equally many of both; NaN is left out."""

    name: str
    steps: tuple[Number, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Page:
    """A whole page. Episodes are taken and packed one by one, so that thousands need little memory.

    sides: what each board of a step is called: two engines, or one. about: sentences under the headline.
    command: what shows the same again. curves: the most telling ones first, for the page folds all but a few.
    tables: what was found in all episodes.
    """

    headline: str
    sides: tuple[str, ...]
    episodes: Iterable[Episode]
    about: tuple[str, ...] = ()
    command: str = ""
    curves: tuple[Curve, ...] = ()
    tables: tuple[Records, ...] = ()

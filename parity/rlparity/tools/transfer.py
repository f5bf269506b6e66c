"""Whether a policy that was trained on one engine does as well on the other: equivalence tests of its episodes.

Two one-sided tests (Schuirmann 1987): a measure is equivalent where the 90% interval of its mean difference lies within
the margin, so that a larger difference is excluded at the 5% level on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rlparity.agent import Policy
from rlparity.core.free_running import FreeRun
from rlparity.core.pair import Pair
from rlparity.core.settings import Effect, Settings
from rlparity.core.sources import Source
from rlparity.engine import Array
from rlparity.world import World

TRAINING_GAMES = 16
"""Games side by side from which a policy learns."""
FEWEST_GAMES = 30
"""Games without which a mean is not near enough to normal."""
QUANTILE = 1.6449
"""Of the normal distribution, at 95%."""
UNSEEN = 3.0
"""Of n games without a case, at most 3 / n of all have one, at 95%."""
EQUIVALENT, DIFFERENT, NOT_SHOWN = "equivalent", "different", "not shown to be equivalent"


@dataclass(frozen=True)
class Equivalence:
    """One measure of one policy's episodes on both engines.

    low, high: the 90% interval of the mean difference, second engine less first. margin: what is still equivalent.
    """

    policy: str
    measure: str
    expected: float
    observed: float
    low: float
    high: float
    margin: float

    @property
    def difference(self) -> list[float]:
        """The mean difference and its interval."""
        return [self.observed - self.expected, self.low, self.high]

    @property
    def bound(self) -> float:
        """The smallest margin for which the measure is equivalent."""
        return max(abs(self.low), abs(self.high))

    @property
    def result(self) -> str:
        """``EQUIVALENT``, ``DIFFERENT`` where the whole interval is beyond the margin, else ``NOT_SHOWN``."""
        if self.bound <= self.margin:
            return EQUIVALENT
        return DIFFERENT if self.low > self.margin or self.high < -self.margin else NOT_SHOWN


def equivalence(policy: str, measure: str, sides: tuple[Array, Array], share: float) -> Equivalence:
    """Test a measure (games,) of two engines, in games of the same seeds.

    The margin is ``share`` of the first engine's mean, without its sign, or of its standard deviation where that is
    larger; of an ending, whose measure is 0 or 1, it is ``share`` itself.
    """
    one, other = (np.asarray(side, np.float64) for side in sides)
    differences, spread = other - one, float(np.std(one, ddof=1))
    mean = float(differences.mean())
    error = QUANTILE * float(np.std(differences, ddof=1)) / np.sqrt(len(one))
    is_ending = measure not in ("return", "length")
    # games that were not played may differ, each by as much as two games do
    reach = max(error, UNSEEN / len(one) * (1.0 if is_ending else np.sqrt(2) * spread))
    margin = share if is_ending else share * max(abs(float(one.mean())), spread)
    means = float(one.mean()), float(other.mean())
    return Equivalence(policy, measure, *means, mean - reach, mean + reach, margin)


def equivalence_tests(
    world: World,
    engines: tuple[str, str],
    policies: Iterable[tuple[str, Policy]],
    settings: Settings,
    share: float,
    progress: Callable[[], object] = lambda: None,
) -> tuple[list[Equivalence], list[int]]:
    """Play ``settings.games`` games of each policy on both engines, and test what it gets.

    Games start from the same seeds, each engine is acted on by what it shows itself, and actions are drawn by the same
    random numbers. Returns the tests, and for each policy how many games ended on both engines.
    """
    tests, ended = list[Equivalence](), list[int]()
    for number, (name, policy) in enumerate(policies):
        effect = _played(world, engines, policy, replace(settings, seed=settings.seed + number), progress)
        tests += [equivalence(name, measure, (one, other), share) for measure, (one, other) in effect.measures.items()]
        ends = effect.measures["terminated"] + effect.measures["truncated"]
        ended.append(int(ends.all(axis=0).sum()))
    return tests, ended


def _played(
    world: World, engines: tuple[str, str], policy: Policy, settings: Settings, progress: Callable[[], object]
) -> Effect:
    with Pair(world, engines, settings.games, timeout=settings.timeout) as pair:
        run = FreeRun(pair, settings)
        run.source = Source(policy)
        run.play(progress)
    assert run.outcome.effect is not None
    return run.outcome.effect


def reason(tests: Sequence[Equivalence], share: float) -> str:
    """One sentence: whether all measures of all policies are equivalent, and which one is the farthest from it."""
    worst = max(tests, key=lambda test: (test.result != EQUIVALENT, test.bound / test.margin if test.margin else 0.0))
    what = f"{worst.measure} of {worst.policy}"
    if worst.result == EQUIVALENT:
        return (
            f"Equivalent within {share:.3g}: differences of more than {worst.bound:.3g} in {what}, the nearest to its "
            f"margin of {worst.margin:.3g}, are excluded at 95%."
        )
    span = f"the difference is between {worst.low:.3g} and {worst.high:.3g}, its margin is {worst.margin:.3g}"
    return f"{worst.result.capitalize()}: in {what} {span}."

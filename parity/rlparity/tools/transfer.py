"""Equivalence tests of whether a policy that was trained on one engine does as well on the other.

Two one-sided tests (Schuirmann 1987): a measure is equivalent where the 90% interval of its mean difference lies within
the margin, so that a larger difference is excluded at the 5% level on either side.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rlparity.agent import Policy
from rlparity.core.free_running import FreeRun
from rlparity.core.pair import Pair
from rlparity.core.settings import Settings
from rlparity.core.sources import Source
from rlparity.engine import Array
from rlparity.world import World

Measures = Mapping[str, Array]
"""Return, length and endings by name, arrays (2, games) by engine."""
TRAINING_GAMES = 16
"""Number of parallel games in training."""
FEWEST_GAMES = 30
"""Fewest games for which a mean is close enough to normal."""
QUANTILE = 1.6449
"""95% quantile of the normal distribution."""
UNSEEN = 3.0
"""Rule of three: an event in none of n games has a probability of at most 3 / n, at 95% confidence."""
POWER_QUANTILE = 1.96
"""97.5% quantile of the normal distribution: equal engines are then shown to be equivalent in 95% of all runs."""
MOST_ROUNDS = 10
"""Most rounds that a policy plays, of ``Settings.games`` games each."""
EQUIVALENT, DIFFERENT, NOT_SHOWN = "equivalent", "different", "not shown to be equivalent"


@dataclass(frozen=True)
class Equivalence:
    """One measure of one policy's episodes on both engines.

    low, high: the 90% interval of the mean difference, second engine minus first. margin: largest tolerated difference.
    games: the number played; needed: the number that shows equal engines to be equivalent in 95% of runs.
    bound: the smallest margin for which the measure is equivalent. result: ``EQUIVALENT``; ``DIFFERENT`` where the
    whole interval is beyond the margin; else ``NOT_SHOWN``.
    """

    policy: str
    measure: str
    expected: float
    observed: float
    low: float
    high: float
    margin: float
    games: int
    needed: int
    bound: float
    result: str

    @property
    def difference(self) -> list[float]:
        """The mean difference and its interval."""
        return [self.observed - self.expected, self.low, self.high]


def equivalence(policy: str, measure: str, sides: tuple[Array, Array], share: float) -> Equivalence:
    """Test the equivalence of a measure (games,) on two engines, in games of the same seeds.

    The margin is ``share`` times the absolute mean of the first engine, or its standard deviation where that is larger;
    for an ending, whose measure is 0 or 1, it is ``share`` itself.
    """
    one, other = (np.asarray(side, np.float64) for side in sides)
    differences, spread = other - one, float(np.std(one, ddof=1))
    games, mean, deviation = len(one), float(differences.mean()), float(np.std(differences, ddof=1))
    is_ending = measure not in ("return", "length")
    # by the rule of three, unseen games may differ, each by as much as two games do
    unseen = UNSEEN * (1.0 if is_ending else np.sqrt(2) * spread)
    reach = float(max(QUANTILE * deviation / np.sqrt(games), unseen / games))
    margin = share if is_ending else share * max(abs(float(one.mean())), spread)
    needed = max(((QUANTILE + POWER_QUANTILE) * deviation / margin) ** 2, unseen / margin) if margin else games
    low, high = mean - reach, mean + reach
    bound = max(abs(low), abs(high))
    apart = DIFFERENT if low > margin or high < -margin else NOT_SHOWN
    result = EQUIVALENT if bound <= margin else apart
    means = float(one.mean()), float(other.mean())
    return Equivalence(policy, measure, *means, low, high, margin, games, int(np.ceil(needed)), bound, result)


def equivalence_tests(
    world: World,
    engines: tuple[str, str],
    policies: Iterable[tuple[str, Policy]],
    settings: Settings,
    share: float,
    progress: Callable[[], object] = lambda: None,
) -> tuple[list[Equivalence], list[int]]:
    """Play games of each policy on both engines, and test whether its results are equivalent.

    Games start from the same seeds; the policy acts on each engine's own observations, with the same random draws.
    First ``settings.games`` are played, then, in one go, as many more as the spread of the differences requires. Their
    mean plays no part in that number: it would bias the test towards equivalence. Returns the tests, and for each
    policy the number of games that ended on both engines.
    """
    tests, ended = list[Equivalence](), list[int]()
    for number, (name, policy) in enumerate(policies):
        alone = replace(settings, seed=settings.seed + number)
        with Pair(world, engines, settings.games, timeout=settings.timeout) as pair:
            played = [_played(pair, policy, alone, 0, progress)]
            first = _tests(name, played, share)
            is_different = any(test.result == DIFFERENT for test in first)  # more games would not change that
            needed = max(test.needed for test in first)
            rounds = 1 if is_different else min(-(-needed // settings.games), MOST_ROUNDS)
            played += [_played(pair, policy, alone, number, progress) for number in range(1, rounds)]
        tests += _tests(name, played, share)
        ended.append(sum(int((each["terminated"] + each["truncated"]).all(axis=0).sum()) for each in played))
    return tests, ended


def _tests(policy: str, played: Sequence[Measures], share: float) -> list[Equivalence]:
    joined = ((name, np.concatenate([each[name] for each in played], axis=1)) for name in played[0])
    return [equivalence(policy, name, (one, other), share) for name, (one, other) in joined]


def _played(pair: Pair, policy: Policy, settings: Settings, number: int, progress: Callable[[], object]) -> Measures:
    """Play round ``number``, whose seeds follow those of the round before."""
    run = FreeRun(pair, replace(settings, seed=settings.seed + number * settings.games))
    run.source = Source(policy)
    run.play(progress)
    return run.measures


def reason(tests: Sequence[Equivalence], share: float) -> str:
    """Say in one sentence whether all measures of all policies are equivalent, and which one is the farthest off."""
    worst = max(tests, key=lambda test: (test.result != EQUIVALENT, test.bound / test.margin if test.margin else 0.0))
    what = f"{worst.measure} of {worst.policy}"
    if worst.result == EQUIVALENT:
        return (
            f"Equivalent within {share:.3g}: differences of more than {worst.bound:.3g} in {what}, the nearest to its "
            f"margin of {worst.margin:.3g}, are excluded at 95%."
        )
    span = f"the difference is between {worst.low:.3g} and {worst.high:.3g}, its margin is {worst.margin:.3g}"
    more = (
        f"; equal engines need {worst.needed:,} games"
        if worst.result == NOT_SHOWN and worst.needed > worst.games
        else ""
    )
    return f"{worst.result.capitalize()}: in {what} {span}{more}."

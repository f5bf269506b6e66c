"""Statistics of Goodharts episodes: ``SCORE``."""

from collections.abc import Sequence

from rlworldkit.score import Counts, Score, Summary

DIED = "died"


def statistics(counts: Counts) -> Summary:
    """Amounts of ``food`` and ``poison`` eaten in each episode."""
    return dict(zip(("food", "poison"), counts.events.T, strict=True))


def metrics(summaries: Sequence[Summary]) -> dict[str, float]:
    """Mean ``eaten/food`` and ``eaten/poison`` of an episode, and ``eaten/efficiency``, the share of food.

    ``eaten/efficiency`` is left out where nothing was eaten.
    """
    food, poison = (sum(summary[name] for summary in summaries) for name in ("food", "poison"))
    eaten = {"eaten/food": food / len(summaries), "eaten/poison": poison / len(summaries)}
    return {**eaten, "eaten/efficiency": food / (food + poison)} if food + poison else eaten


SCORE = Score(endings={"death": DIED}, statistics=statistics, metrics=metrics)

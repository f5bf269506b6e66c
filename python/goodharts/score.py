"""What episodes of Goodharts are reported by: ``SCORE``."""

from collections.abc import Sequence

from rlworldkit.score import Counts, Score, Summary

DIED = "died"


def statistics(counts: Counts) -> Summary:
    """How much ``food`` and ``poison`` was eaten in an episode."""
    return dict(zip(("food", "poison"), counts.events.T, strict=True))


def metrics(summaries: Sequence[Summary]) -> dict[str, float]:
    """Mean ``eaten/food`` and ``eaten/poison`` of an episode, and ``eaten/efficiency``, the share of food.

    That share is left out where nothing was eaten.
    """
    food, poison = (sum(summary[name] for summary in summaries) for name in ("food", "poison"))
    eaten = {"eaten/food": food / len(summaries), "eaten/poison": poison / len(summaries)}
    return {**eaten, "eaten/efficiency": food / (food + poison)} if food + poison else eaten


SCORE = Score(endings={"death": DIED}, statistics=statistics, metrics=metrics)

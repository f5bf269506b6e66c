"""Rule coverage: which rules a run exercised, and how often, on each side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlparity.errors import UsageError
from rlparity.world import World

RARE = 10


@dataclass(frozen=True)
class MarkCount:
    """Counts of one mark in each engine."""

    mark: str
    rule: str
    expected: int
    observed: int


@dataclass(frozen=True)
class Coverage:
    """Rule coverage of a run: hits of each rule, and counts of the marks that stand for the rules.

    rules: hits of each rule id, on the side with fewer. never, rare: rules with no hit, and with fewer than ``RARE``.
    silent_marks: marks that fired on neither side, so branches that the run did not reach. unequal_marks: marks that
    the engines counted differently.
    """

    rules: Mapping[str, int]
    marks: Sequence[MarkCount]
    never: Sequence[str]
    rare: Sequence[str]
    silent_marks: Sequence[str]
    unequal_marks: Sequence[str]


def require_marks(world: World) -> None:
    """Raise UsageError when the world has no marks, or one of its rules has no mark."""
    if not world.marks:
        raise UsageError(f"world '{world.name}' names no marks: it has no coverage to measure.")
    if unmarked := [rule for rule in world.rule_ids() if rule not in world.marks.values()]:
        raise UsageError(
            f"rule {unmarked[0]} of world '{world.name}' has no mark: give it one or take it off the list."
        )


def coverage_of(world: World, counts: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Coverage:
    """Compute the coverage from the mark counts (marks,) of both engines."""
    expected, observed = (side.tolist() for side in counts)
    counts_of = zip(world.marks.items(), expected, observed, strict=True)
    marks = [MarkCount(mark, rule, one, other) for (mark, rule), one, other in counts_of]
    rules = {rule: _hits(marks, rule) for rule in world.rule_ids()}
    return Coverage(
        rules,
        marks,
        never=[rule for rule, hits in rules.items() if hits == 0],
        rare=[rule for rule, hits in rules.items() if 0 < hits < RARE],
        silent_marks=[each.mark for each in marks if not each.expected and not each.observed],
        unequal_marks=[each.mark for each in marks if each.expected != each.observed],
    )


def _hits(marks: Sequence[MarkCount], rule: str) -> int:
    """Sum the counts of all marks of the rule, on the side where they fired less."""
    counts = [each for each in marks if each.rule == rule]
    return min(sum(each.expected for each in counts), sum(each.observed for each in counts))

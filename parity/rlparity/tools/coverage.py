"""Rule coverage: which rules a run exercised, and how often, on each side."""

from __future__ import annotations

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
    """The marks of a run and the rules they stand for."""

    marks: tuple[MarkCount, ...]
    rules: tuple[str, ...]

    def hits(self, rule: str) -> int:
        """Count of all marks of the rule, on the side where it fired less."""
        counts = [mark for mark in self.marks if mark.rule == rule]
        return min(sum(mark.expected for mark in counts), sum(mark.observed for mark in counts))

    def never(self) -> tuple[str, ...]:
        """Rules that were not hit, on one side at least."""
        return tuple(rule for rule in self.rules if self.hits(rule) == 0)

    def rare(self) -> tuple[str, ...]:
        """Rules that were hit, but fewer than RARE times."""
        return tuple(rule for rule in self.rules if 0 < self.hits(rule) < RARE)

    def silent_marks(self) -> tuple[str, ...]:
        """Marks that never fired on either side: branches of rules that the run did not reach."""
        return tuple(mark.mark for mark in self.marks if not mark.expected and not mark.observed)

    def unequal(self) -> tuple[MarkCount, ...]:
        """Marks that the engines counted differently."""
        return tuple(mark for mark in self.marks if mark.expected != mark.observed)


def require_marks(world: World) -> None:
    """Raises UsageError when the world has nothing to count, or demands a rule that no mark stands for."""
    if not world.marks:
        raise UsageError(f"world '{world.name}' names no marks: it has no coverage to measure.")
    if unmarked := [rule for rule in world.rule_ids() if rule not in world.marks.values()]:
        raise UsageError(
            f"rule {unmarked[0]} of world '{world.name}' has no mark: give it one or take it off the list."
        )


def coverage_of(world: World, counts: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Coverage:
    """The coverage behind the mark counts (marks,) of both engines."""
    expected, observed = (side.tolist() for side in counts)
    marks = zip(world.marks.items(), expected, observed, strict=True)
    counted = tuple(MarkCount(mark, rule, one, other) for (mark, rule), one, other in marks)
    return Coverage(counted, world.rule_ids())

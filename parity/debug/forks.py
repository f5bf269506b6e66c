"""Forks of a game as a tree, and what two of them have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parity.compare import Difference, explain
from parity.debug.timeline import Fork
from parity.pair import Pair


@dataclass(frozen=True)
class ForkComparison:
    """Two forks, as the reference has them.

    common: the last step before they part. step: the compared one, by default the first at which a field differs;
    None: none does as far as both were played. differences: there; the first fork's values are ``expected``.
    last: the last step of each. rewards: of each, summed after ``common``.
    """

    common: int
    step: int | None
    differences: tuple[Difference, ...]
    last: tuple[int, int]
    rewards: tuple[float, float]


def compare_forks(pair: Pair, one: Fork, other: Fork, step: int | None = None) -> ForkComparison:
    """Compare two forks of one tree at a step, or at the first at which they differ, as far as both were played."""
    shared = one.leaves(), other.leaves()
    common = max(min(shared[0][fork], shared[1][fork]) for fork in shared[0].keys() & shared[1].keys())
    last = one.last, other.last
    differences: list[Difference] = []
    found = step
    for each in range(common, min(last) + 1) if step is None else (step,):
        expected, observed = one.moment(each).sides[0], other.moment(each).sides[0]
        # the start of an edited fork has no reward
        names = [name for name in expected if name in observed]
        differences = explain(
            pair.world, {name: expected[name] for name in names}, {name: observed[name] for name in names}, 0
        )
        if differences:
            found = each
            break
    rewards = one.rewards_after(common), other.rewards_after(common)
    return ForkComparison(common, found, tuple(differences), last, rewards)


def tree_lines(forks: Sequence[Fork], current: Fork, fork: Fork | None = None, depth: int = 0) -> Iterator[str]:
    """Forks, of which the first is the root, as an indented list."""
    fork = forks[0] if fork is None else fork
    sign = "*" if fork is current else " "
    start = f"seed {fork.case.seed}" if fork.case.state is None else "a recorded state"
    cause = start if fork.parent is None else f"{fork.cause} at step {fork.at}"
    first = next((fork.first + row for row, moment in enumerate(fork.moments) if moment.differences), None)
    differs = "" if first is None else f", differs at step {first}"
    yield f"{sign} {'  ' * depth}{fork.number}: {cause}, to step {fork.last}{differs}"
    for child in forks:
        if child.parent is fork:
            yield from tree_lines(forks, current, child, depth + 1)

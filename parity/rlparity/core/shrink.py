"""Making a diverging case small: fewer actions, a smaller start state, a smaller seed."""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from rlparity.core.compare import STATE, Difference
from rlparity.core.pair import Pair
from rlparity.core.replay import differs_at, moments
from rlparity.core.trace import Case
from rlparity.errors import StateRefused, blamed

SMALL_SEEDS = range(16)


@dataclass(frozen=True)
class _Search:
    """fields: that differ in the original. only_valid: it has no invalid action. ends: when to stop."""

    pair: Pair
    fields: frozenset[str]
    only_valid: bool
    ends: float

    def still(self, case: Case) -> Case | None:
        """``case`` cut after its first difference, if no field differs there that does not in the original.

        That, and leaving out invalid actions, keeps the search from sliding into another fault.
        """
        try:
            found = differs_at(self.pair, case, only_valid=self.only_valid)
        except StateRefused:
            return None
        if found is None or not fields_of(found.differences) <= self.fields:
            return None
        return found.case

    def first(self, cases: Iterable[Case]) -> Case | None:
        """The first of some cases that still differs so; None where none does, or time is up."""
        in_time = takewhile(lambda _: time.monotonic() < self.ends, cases)
        return next((found for case in in_time if (found := self.still(case))), None)


def shrink(pair: Pair, case: Case, seconds: float) -> Case | None:
    """A small case in which the engines of ``pair`` (one game) differ in no field in which they do not in ``case``.

    It has invalid actions only where ``case`` has. None when ``case`` itself does not diverge in a game played alone.
    Takes about ``seconds`` at most.
    """
    valid = differs_at(pair, case, only_valid=True)
    found = valid or differs_at(pair, case)
    if found is None:
        return None
    search = _Search(pair, fields_of(found.differences), valid is not None, time.monotonic() + seconds)
    small = found.case if pair.world.states_replay else search.first(_rests(pair, found.case)) or found.case
    while smaller := search.first(_candidates(pair, small)):
        small = smaller
    return small


def places(differences: Sequence[Difference]) -> frozenset[str]:
    """Fields of the differences: those of the state, else the others."""
    fields = fields_of(differences)
    return frozenset(field for field in fields if field.startswith(STATE)) or fields


def fields_of(differences: Sequence[Difference]) -> frozenset[str]:
    """Fields of the differences, whichever entity or cell it is."""
    return frozenset(re.sub(r"\[.*?\]", "", difference.field) for difference in differences)


def _rests(pair: Pair, case: Case) -> Iterator[Case]:
    """The last 0, 1, 2, 4 … actions of the game, begun in the reference's state at that point.

    A start state is worth it only where it saves actions.
    """
    states = [moment.states[0] for moment in moments(pair, case)]
    length = 0
    while length < len(case.actions):
        done = len(case.actions) - length
        yield case.from_state(states[done], done)
        length = max(1, 2 * length)


def _candidates(pair: Pair, case: Case) -> Iterator[Case]:
    length = len(case.actions)
    while length := length // 2:  # long runs of actions first
        for index in range(0, len(case.actions) - length + 1, length):
            yield replace(case, actions=case.actions[:index] + case.actions[index + length :])
    if len(case.actions) == 1:
        yield replace(case, actions=())
    if case.state is None:
        seed = case.seed or 0
        yield from (replace(case, seed=smaller) for smaller in (*SMALL_SEEDS, seed >> 32, seed >> 1) if smaller < seed)
        return
    for shrinker in pair.world.shrinkers:
        with blamed("a shrinker"):
            yield from (replace(case, state=state) for state in shrinker(case.state))

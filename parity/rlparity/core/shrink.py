"""Shrinking of a diverging case: fewer actions, a smaller start state, a smaller seed."""

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
    """Search for a smaller case. fields: that differ in the original; only_valid: no invalid action; ends: deadline."""

    pair: Pair
    fields: frozenset[str]
    only_valid: bool
    ends: float

    def still(self, case: Case) -> Case | None:
        """Cut ``case`` after its first difference; None unless only fields differ there that differ in the original.

        This condition, and leaving out invalid actions, keeps the search from ending up at another fault.
        """
        try:
            found = differs_at(self.pair, case, only_valid=self.only_valid)
        except StateRefused:
            return None
        if found is None or not fields_of(found.differences) <= self.fields:
            return None
        return found.case

    def first(self, cases: Iterable[Case]) -> Case | None:
        """Find the first of some cases that still diverges; None where none does, or time is up."""
        in_time = takewhile(lambda _: time.monotonic() < self.ends, cases)
        return next((found for case in in_time if (found := self.still(case))), None)


def shrink(pair: Pair, case: Case, seconds: float) -> Case | None:
    """Find a small case in which the engines of ``pair`` (one game) differ only in fields that differ in ``case``.

    It has invalid actions only where ``case`` has. None where ``case`` itself does not diverge in a game played alone.
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
    """Fields of the differences: only those of the state, or all where the state does not differ."""
    fields = fields_of(differences)
    return frozenset(field for field in fields if field.startswith(STATE)) or fields


def fields_of(differences: Sequence[Difference]) -> frozenset[str]:
    """Fields of the differences, without their indices."""
    return frozenset(re.sub(r"\[.*?\]", "", difference.field) for difference in differences)


def _rests(pair: Pair, case: Case) -> Iterator[Case]:
    """Yield the last 0, 1, 2, 4 … actions of a case, each begun in the reference's state at that point.

    A case without fewer actions is left out, because a start state only pays where it saves actions.
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

"""The witnesses of a ledger of known differences, replayed."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby

from rlparity.core.compare import Difference, value_text
from rlparity.core.ledger import MARKS, Entry, Ledger
from rlparity.core.pair import Pair
from rlparity.core.prices import with_prices
from rlparity.core.replay import last_differences
from rlparity.errors import StateRefused
from rlparity.io.strict_json import json_text
from rlparity.world import World


def check_witnesses(world: World, engines: tuple[str, str], ledger: Ledger, timeout: float) -> list[str]:
    """Sentences on the witnesses on which two engines give other verdicts than those that are pinned.

    ``ledger``: opened for these engines. Raises UsageError where two entries explain one, EngineError where an engine
    fails.
    """
    faults = []
    ordered = sorted(ledger.entries, key=_prices)
    for _, entries in groupby(ordered, _prices):
        several = [*entries]
        priced = with_prices(world, several[0].witness.prices) if several[0].witness.prices else world
        with Pair(priced, engines, 1, timeout=timeout, ledger=ledger) as pair:
            faults += [fault for entry in several if (fault := _witness_fault(pair, ledger, entry))]
    return faults


def _prices(entry: Entry) -> str:
    return json_text(dict(entry.witness.prices), sort_keys=True)


def _witness_fault(pair: Pair, ledger: Ledger, entry: Entry) -> str | None:
    try:
        before, action, differences = last_differences(pair, entry.witness.case)
    except StateRefused as error:
        return f"The start of the witness of entry '{entry.id}' is refused: {error}"
    if verdict(differences) != verdict(entry.witness.differences):
        now, then = map(_words, (differences, entry.witness.differences))
        return f"The witness of entry '{entry.id}' shows {now}, and what is pinned is {then}: look at it again."
    if entry not in ledger.entries_of(before, action, differences):
        return f"The witness of entry '{entry.id}' does not fit the entry: correct its condition or its fields."
    return None


def verdict(differences: tuple[Difference, ...]) -> list[str]:
    """What differs, marks aside, with both values, in an order that does not depend on how it was compared."""
    return sorted(json_text(asdict(each)) for each in differences if each.family != MARKS)


def _words(differences: tuple[Difference, ...]) -> str:
    each = [f"{found.field} {value_text(found.expected)} and {value_text(found.observed)}" for found in differences]
    return ", ".join(each[:3]) or "no difference"

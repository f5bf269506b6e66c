"""Machine-readable document of a divergence: what differs, the source lines involved, and the next commands."""

import hashlib
import linecache
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlparity.core.compare import STATE, Difference
from rlparity.core.trace import RESTART, Action
from rlparity.engines.tape import TAPE
from rlparity.io.documents import document_value
from rlparity.io.strict_json import json_text
from rlparity.tools.diff import family_of
from rlparity.tools.report import NextCommand, Report, action_name
from rlparity.tools.rules import rule_text, source_lines
from rlparity.world import PLACE

ROOM = 8192
"""Size budget of one document, in bytes of JSON values: differences, start and actions."""
MOST_LINES = 8
"""Largest number of source lines that are listed for each engine."""
_LONGEST_RULE = 1000
_ORDER = (STATE, "components", "reward", "terminated", "truncated", "facts", "events", "mask", "marks", "seed")


@dataclass(frozen=True)
class ActionDocument:
    """An action and its name. action: its number, or the numbers of an array action."""

    action: Action
    name: str


@dataclass(frozen=True)
class SourceDocument:
    """A line of an engine's source. about: why it is listed; it makes the differing value or fires a rule's mark."""

    engine: str
    file: str
    line: int
    text: str
    about: str


@dataclass(frozen=True)
class DivergenceDocument:
    """A game in which the engines differ.

    game: its number. step: the number of actions after which it differs. fields: all fields that differ. The fields
    below describe the shrunk game: the first of ``alike`` games with the same last action and differing places.

    signature: hash of the phase and the part of the state that differ first; few faults have several.
    headline: one sentence. start: a seed or a state. differences: the likeliest cause first. left_out: counts of what
    only the trace holds. phase: where in the step the engines part. rules, rule_texts: rules that fired in the last
    step. suspects: rules that fire, whatever the last action, just where the engines differ. trace, report: files.
    """

    step: int
    fields: Sequence[str]
    game: int | None = None
    alike: int | None = None
    signature: str | None = None
    headline: str | None = None
    start: Mapping[str, Any] | None = None
    actions: Sequence[ActionDocument] | None = None
    shrunk_actions: int | None = None
    differences: Sequence[Difference] | None = None
    left_out: Mapping[str, int] | None = None
    phase: str | None = None
    suspects: Sequence[str] | None = None
    rules: Sequence[str] | None = None
    rule_texts: Mapping[str, str] | None = None
    sources: Sequence[SourceDocument] | None = None
    next: Sequence[NextCommand] | None = None
    trace: str | None = None
    report: str | None = None


class _Room:
    """Size budget, in bytes of JSON, that values use up."""

    def __init__(self, size: int) -> None:
        self._left = size

    def fitting(self, values: Iterable[Any]) -> list[Any]:
        """Take values from the front as long as they fit into the remaining budget."""
        taken = []
        for value in values:
            size = len(json_text(document_value(value)))
            if size > self._left:
                break
            self._left -= size
            taken.append(value)
        return taken


def divergence_document(report: Report) -> DivergenceDocument:
    """Build the document of a replayed trace whose engines differ."""
    fields = [each.field for each in report.trace.differences]
    return DivergenceDocument(len(report.moments) - 1, fields, **explained(report, ROOM))


def explained(report: Report, size: int) -> dict[str, Any]:
    """Fields of a divergence's document that come from its report, with values of at most ``size`` bytes."""
    world, trace, case, room = report.world, report.trace, report.trace.case, _Room(size)
    cause, *others = by_likelihood(report)
    causes = room.fitting([cause]) or [_clipped(cause)]
    starts = room.fitting([{"seed": case.seed} if case.state is None else {"state": case.state}])
    actions = room.fitting(ActionDocument(each, action_name(world, each)) for each in reversed(case.actions))
    differences = causes + room.fitting(others)
    left_out = {
        "differences": len(others) + 1 - len(differences),
        "start": 1 - len(starts),
        "actions": len(case.actions) - len(actions),
    }
    return {
        "signature": signature(report),
        "headline": report.headline,
        "start": starts[0] if starts else None,
        "actions": actions[::-1],
        "shrunk_actions": len(case.actions),
        "differences": differences,
        "left_out": {name: count for name, count in left_out.items() if count},
        "phase": report.parting.text,
        "suspects": report.suspects,
        "rules": trace.rules,
        "rule_texts": {rule: rule_text(world, rule)[:_LONGEST_RULE] for rule in trace.rules},
        "sources": [*_sources(report)],
        "next": report.next,
    }


def signature(report: Report) -> str:
    """Hash the world, the engines' names without places, the phase in which they part, and the family that differs.

    The family is that of the first difference in the phase, else of the likeliest cause. Entity, cell and number are
    left out, and so are further differences and the part of a state that differs at a start, since they depend on the
    game that was found. Faults that first show in the same phase and part of the state share a signature; a fault that
    first shows in several phases or parts has one for each.
    """
    parting, trace = report.parting, report.trace
    engines = ["tape" if name.startswith(TAPE) else name.partition(PLACE)[0] for name in trace.engines]
    first = (parting.differences or by_likelihood(report))[0]
    is_start = trace.case.actions[-1:] in ((), (RESTART,))
    about = report.world.name, *engines, parting.phase, first.family if is_start else family_of(first)
    return hashlib.sha256(json_text(about).encode()).hexdigest()[:16]


def by_likelihood(report: Report) -> list[Difference]:
    """Sort the differences, the likeliest cause first: fields that differ where the engines part, then the state."""
    parted = {each.field for each in report.parting.differences}
    ranks = {family: rank for rank, family in enumerate(_ORDER)}
    return sorted(
        report.trace.differences, key=lambda each: (each.field not in parted, ranks.get(each.family, len(ranks)))
    )


def _clipped(cause: Difference) -> Difference:
    """Truncate a difference whose values are too long to the beginnings of their JSON texts."""
    one, other = (json_text(value)[: ROOM // 8] for value in (cause.expected, cause.observed))
    return Difference(cause.field[: ROOM // 8], one, other)


def _sources(report: Report) -> Iterator[SourceDocument]:
    """Yield lines of both engines' sources: those that made what differs, and those of marks that fired last."""
    world, last = report.world, report.moments[-1]
    for side, engine in enumerate(report.trace.engines):
        fired = [*(last.marks[side] if last.marks else ())]
        found = [(path, line, "makes what differs") for path, line in report.parting.lines[side]]
        for mark in fired:
            about = f"{world.marks[mark]}, mark {mark}"
            found += [(path, line, about) for path, line in source_lines(world, engine, mark)[:1]]
        for path, line, about in found[:MOST_LINES]:
            yield SourceDocument(engine, str(path), line, linecache.getline(str(path), line).strip(), about)

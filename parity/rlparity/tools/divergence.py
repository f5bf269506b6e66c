"""A divergence for programs: what differs, where in the sources, and what to do next."""

import hashlib
import linecache
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlparity.core.compare import STATE, Difference
from rlparity.core.trace import Action
from rlparity.engines.tape import TAPE
from rlparity.io.documents import document_value
from rlparity.io.strict_json import json_text
from rlparity.tools.diff import family_of
from rlparity.tools.report import NextCommand, Report, action_name
from rlparity.tools.rules import rule_text, source_lines
from rlparity.world import PLACE

ROOM = 8192
"""Bytes of values in one document: what differs, starts and actions."""
MOST_LINES = 8
"""Of the source of each engine."""
_LONGEST_RULE = 1000
_ORDER = (STATE, "components", "reward", "terminated", "truncated", "facts", "events", "mask", "marks", "seed")


@dataclass(frozen=True)
class ActionDocument:
    """An action by its number, or the numbers of one that is an array, and its name."""

    action: Action
    name: str


@dataclass(frozen=True)
class SourceDocument:
    """A line of an engine's source. about: what it makes: the value that differs, or a mark of a rule."""

    engine: str
    file: str
    line: int
    text: str
    about: str


@dataclass(frozen=True)
class DivergenceDocument:
    """A game in which the engines differ.

    game, step: its number, and the actions after which it differs. fields: all that differ. What comes then is of the
    game that was made small, the first of those that are ``alike``.

    signature: of the phase and the part of the state that differ first: of one fault, the same from most seeds.
    headline: one sentence. start: a seed, or a state. differences: the likeliest cause first. left_out: how much is in
    the trace alone. phase: where the engines part. rules: ids that fired in the last step, and their texts; suspects:
    those that, with other last actions too, fire just where they differ so. trace, report: files.
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
    """Room for so many bytes of values."""

    def __init__(self, size: int) -> None:
        self._left = size

    def fitting(self, values: Iterable[Any]) -> list[Any]:
        """The first values that there is room for."""
        taken = []
        for value in values:
            size = len(json_text(document_value(value)))
            if size > self._left:
                break
            self._left -= size
            taken.append(value)
        return taken


def divergence_document(report: Report) -> DivergenceDocument:
    """The document of a replayed trace whose engines differ."""
    fields = [each.field for each in report.trace.differences]
    return DivergenceDocument(len(report.moments) - 1, fields, **explained(report, ROOM))


def explained(report: Report, size: int) -> dict[str, Any]:
    """The parts of a divergence's document that its report has, with at most so many bytes of values."""
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
    """A hash of the world, the engines' names without places, the phase in which they part, and what differs then.

    That is the first part of the state that does, else what comes first of the rest; which entity, cell or number of it
    it is, and what else differs, depends on the game that was found. Faults that first show in one phase and part of
    the state share it.
    """
    parting, trace = report.parting, report.trace
    engines = ["tape" if name.startswith(TAPE) else name.partition(PLACE)[0] for name in trace.engines]
    first = (parting.differences or by_likelihood(report))[0]
    about = report.world.name, *engines, parting.phase, family_of(first)
    return hashlib.sha256(json_text(about).encode()).hexdigest()[:16]


def by_likelihood(report: Report) -> list[Difference]:
    """What differs, the likeliest cause first: what already differs where the engines part, then the state."""
    parted = {each.field for each in report.parting.differences}
    ranks = {family: rank for rank, family in enumerate(_ORDER)}
    return sorted(
        report.trace.differences, key=lambda each: (each.field not in parted, ranks.get(each.family, len(ranks)))
    )


def _clipped(cause: Difference) -> Difference:
    """A difference whose values are too long, as the beginnings of their texts."""
    one, other = (json_text(value)[: ROOM // 8] for value in (cause.expected, cause.observed))
    return Difference(cause.field[: ROOM // 8], one, other)


def _sources(report: Report) -> Iterator[SourceDocument]:
    """Lines of both engines' sources: that made what differs, and of the marks that fired in the last step."""
    world, last = report.world, report.moments[-1]
    for side, engine in enumerate(report.trace.engines):
        fired = [*(last.marks[side] if last.marks else ())]
        found = [(path, line, "makes what differs") for path, line in report.parting.lines[side]]
        for mark in fired:
            about = f"{world.marks[mark]}, mark {mark}"
            found += [(path, line, about) for path, line in source_lines(world, engine, mark)[:1]]
        for path, line, about in found[:MOST_LINES]:
            yield SourceDocument(engine, str(path), line, linecache.getline(str(path), line).strip(), about)

"""Findings: shrink a diverging game to a small trace, and write a report of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rlparity.core.compare import INFO, STATE
from rlparity.core.ledger import Ledger
from rlparity.core.pair import Pair
from rlparity.core.prices import changed_prices
from rlparity.core.replay import Divergence, ReplayMoment, moments
from rlparity.core.settings import STRICT, Settings
from rlparity.core.shrink import places, shrink
from rlparity.core.step_phases import parting_of
from rlparity.core.trace import Case, RecordedRun, Trace, write_trace
from rlparity.engines.registry import is_module
from rlparity.errors import StateRefused, UsageError
from rlparity.io.console import command_words
from rlparity.tools.report import NextCommand, Report, report_page
from rlparity.viewer.write import write_page
from rlparity.world import PLACE, World

MOST_ACTIONS = 20
"""Longest game, in actions, in which other last actions are tried to find suspect rules."""


@dataclass(frozen=True)
class Finding:
    """Group of similar divergences, with a report of the first and the files written for it."""

    alike: tuple[Divergence, ...]
    report: Report
    trace_path: Path
    page_path: Path


def open_alone(
    world: World,
    engines: tuple[str, str],
    case: Case,
    timeout: float,
    ledger: Ledger | None = None,
    *,
    alone: bool = False,
    infos: bool = False,
) -> Pair:
    """Open a Pair of one game each that counts marks if the world has any and compares them if the case does."""
    marks = {"marks": bool(world.marks), "compare_marks": case.marks}
    return Pair(world, engines, 1, **marks, timeout=timeout, ledger=ledger, alone=alone, infos=infos)


def next_commands(
    trace_path: Path, world: str | None = None, engines: tuple[str, str] | None = None
) -> tuple[NextCommand, ...]:
    """Commands to run next with a trace: replay, debug, write a test. ``world``, ``engines``: overrides of its own."""
    of_trace: list[str | Path] = [] if world is None else ["--world", world]
    of_trace += [*([] if engines is None else ["--engines", ",".join(engines)]), trace_path]
    words: dict[str, tuple[str | Path, ...]] = {
        "replay": ("replay", *of_trace),
        "debug": ("debug", *of_trace, "--until", "differs"),
        "write a test": ("debug", *of_trace, "--write-test", f"test_{re.sub(r'[^a-z0-9]+', '_', trace_path.stem)}.py"),
    }
    return tuple(NextCommand(purpose, command_words("rlparity", "rlparity", *each)) for purpose, each in words.items())


def rules_in_play(world: World, moment: ReplayMoment) -> tuple[str, ...]:
    """Ids of the rules whose marks fired in a moment, on either side, in the world's order."""
    if moment.marks is None:
        return ()
    fired = {*moment.marks[0], *moment.marks[1]}
    return tuple(dict.fromkeys(rule for mark, rule in world.marks.items() if mark in fired))


def found_trace(world: World, spec: str, engines: tuple[str, str], case: Case, last: ReplayMoment) -> Trace:
    """Make a trace of a case, with the differences of its ``last`` moment and the rules that fired there."""
    rules, prices = rules_in_play(world, last), changed_prices(world)
    return Trace(spec, engines, case, last.differences, rules, prices=prices)


def replayed(
    world: World,
    trace: Trace,
    path: Path | str,
    engines: tuple[str, str],
    *,
    timeout: float,
    following: Sequence[NextCommand] = (),
) -> Report:
    """Replay the trace read from ``path`` on two engines up to their first difference, and return the report.

    ``following``: the commands to run next. Raises UsageError where an engine refuses the start, EngineError where one
    cannot be opened, or fails.
    """
    infos = any(found.family == INFO for found in trace.differences)
    with open_alone(world, engines, trace.case, timeout, infos=infos) as pair:
        try:
            report = _report(pair, trace.world, trace.case, following)
        except StateRefused as error:
            raise UsageError(f"the start state in {path} is refused: {error}") from error
    return replace(report, trace=replace(report.trace, found=trace.found))


def _report(pair: Pair, spec: str, case: Case, following: Sequence[NextCommand]) -> Report:
    """Play a case on ``pair`` up to its first difference, and make the report."""
    recorded = moments(pair, case)
    trace, parting = found_trace(pair.world, spec, pair.names, case, recorded[-1]), parting_of(pair, recorded)
    return Report(pair.world, trace, tuple(recorded), following, parting, _suspects(pair, case, recorded))


def grouped(divergences: Sequence[Divergence]) -> list[tuple[Divergence, ...]]:
    """Group divergences by their last action and the places that differ, in the order of each group's first one."""
    groups: dict[tuple[object, ...], list[Divergence]] = {}
    for divergence in divergences:
        last = divergence.case.actions[-1:]
        # array actions are hardly ever equal, so they all count as one action
        key = tuple(isinstance(action, tuple) or action for action in last), places(divergence.differences)
        groups.setdefault(key, []).append(divergence)
    return list(map(tuple, groups.values()))


def investigate(
    world: World,
    spec: str,
    engines: tuple[str, str],
    alike: tuple[Divergence, ...],
    trace_path: Path,
    *,
    settings: Settings,
    shrink_seconds: float = 60.0,
    ledger: Ledger | None = None,
) -> Finding:
    """Shrink the first of a group of similar divergences, and write its trace to ``trace_path`` and a page beside it.

    ``spec`` names the world as ``--world`` does; ``settings`` and ``ledger`` are those of the run. A divergence that
    does not show in a game played alone is written as it was found.
    """
    # only the command line may make a replay import an unregistered world or start an engine elsewhere, so name both
    named = spec if is_module(spec) else None, engines if any(PLACE in name for name in engines) else None
    following = next_commands(trace_path, *named)
    tape = world.engines[engines[0]]
    # a tape cannot play a single game; up to the difference the other engine gives the same outputs
    alone = (engines[1], engines[1]) if isinstance(tape, RecordedRun) else engines
    with open_alone(world, alone, alike[0].case, settings.timeout, ledger, infos=settings.infos) as pair:
        report = shrunk_report(pair, spec, alike[0], shrink_seconds, following)
    if isinstance(tape, RecordedRun):
        *before, last = report.moments
        if STATE in tape.unknown:
            before = [replace(moment, states=({}, moment.states[1])) for moment in before]
        last = alike[0].recorded or replace(last, differences=alike[0].differences)
        words = command_words("rlparity", "rlparity", "run", "--world", spec, "--engines", ",".join(engines))
        again = (NextCommand("run again", words),)
        report = Report(world, replace(report.trace, engines=engines), (*before, last), again)
    if settings.mode != STRICT:
        report = replace(report, trace=replace(report.trace, mode=settings.mode))
    page_path = trace_path.with_suffix(".html")
    write_trace(report.trace, trace_path)
    write_page(report_page(report), world, page_path)
    return Finding(alike, report, trace_path, page_path)


def shrunk_report(
    pair: Pair, spec: str, divergence: Divergence, seconds: float, following: Sequence[NextCommand] = ()
) -> Report:
    """Shrink a divergence with ``shrink`` and replay it on ``pair``, which has one game.

    A divergence that shows only in a batch with other games is not shrunk.
    """
    small = shrink(pair, divergence.case, seconds)
    report = _report(pair, spec, divergence.case if small is None else small, following)
    if small is None:
        return replace(report, trace=replace(report.trace, differences=divergence.differences))
    found = None if small == divergence.case else divergence.case
    return replace(report, trace=replace(report.trace, found=found))


def _suspects(pair: Pair, case: Case, recorded: Sequence[ReplayMoment]) -> tuple[str, ...]:
    """Find rules of the last step that, over other last actions too, fire just where the engines differ likewise."""
    (*_, last), (*before, taken) = recorded, (case.actions or (None,))
    if not isinstance(taken, int) or not last.differences or len(case.actions) > MOST_ACTIONS:
        return ()
    fields, failing, passing = places(last.differences), {*rules_in_play(pair.world, last)}, set[str]()
    for other in range(len(pair.world.actions)):
        seen = moments(pair, replace(case, actions=(*before, other)))[-1]
        if places(seen.differences) & fields:
            failing &= {*rules_in_play(pair.world, seen)}
        elif not seen.differences:
            passing |= {*rules_in_play(pair.world, seen)}
    return tuple(rule for rule in rules_in_play(pair.world, last) if rule in failing - passing) if passing else ()

"""The lockstep run: two engines play many games, or recorded ones, and everything is compared at every step."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from rlparity.core.checks import check_engine
from rlparity.core.compare import Difference, value_text
from rlparity.core.free_running import FreeRun
from rlparity.core.ledger import MARKS, Entry, Ledger
from rlparity.core.limits import are_one, declarations_of, is_without_injection, limits_of
from rlparity.core.lockstep_run import LockstepRun
from rlparity.core.measurements import Measurements
from rlparity.core.pair import Outputs, Pair
from rlparity.core.prices import changed_prices
from rlparity.core.replay import Divergence, differs_at, last_differences
from rlparity.core.settings import FREE_RUNNING, RESYNCHRONISED, STRICT, Noise, Outcome, Settings
from rlparity.core.sources import TRACES
from rlparity.core.trace import Action, RecordedRun, Trace, check_actions, read_trace, trace_files
from rlparity.core.verdict import Reason, divergent, judged
from rlparity.engine import Slots
from rlparity.errors import EngineError, StateRefused, UsageError
from rlparity.io.strict_json import json_text
from rlparity.world import World

__all__ = ["Outcome", "Settings", "run"]


def run(
    world: World, engines: tuple[str, str], settings: Settings, progress: Callable[[], object] = lambda: None
) -> Outcome:
    """Play ``settings.games`` games for ``settings.steps`` steps each and compare everything.

    Both engines get the same seeds, states and actions. After they differ, they are resynchronised only in the mode
    ``resynchronised`` and where a ledger says so; else a new game replaces the one that differs. At the end the
    contract of each engine is checked (``check_engine``). The source ``traces:DIR`` plays these traces instead; a tape
    as the first engine fixes the run and its settings. The witnesses of a ledger are replayed first, and the shares of
    its entries are checked last. ``progress`` is called after each step or trace. Raises EngineError and UsageError.
    """
    ledger, faults = settings.ledger, list[str]()
    if ledger is not None:
        ledger = ledger.opened(world, engines)
        faults = check_witnesses(world, engines, ledger, settings.timeout)
    tape, traces = world.engines[engines[0]], list[Trace]()
    if isinstance(tape, RecordedRun):
        if settings.noise:
            raise UsageError(f"{engines[0]} cannot play a game twice: leave --noise out.")
        settings = replace(settings, **{**tape.settings, "source": "uniform"})  # the tape has the actions
    elif settings.source.startswith(TRACES):
        traces = _read_traces(world, Path(settings.source.removeprefix(TRACES)))
    games = 1 if traces else settings.games
    how: dict[str, Any] = {name: getattr(settings, name) for name in ("marks", "timeout", "infos")}
    with Pair(world, engines, games, ledger=ledger, **how) as pair:
        measured = Measurements(world, games)
        pair.measured, measured.are_one = measured, are_one(pair)
        if is_without_injection(pair, settings):
            outcome = Outcome()
        else:
            outcome = _run_traces(pair, traces, settings, progress) if traces else _run_games(pair, settings, progress)
        outcome.is_black_box, outcome.known, outcome.measured = pair.is_black_box, pair.explained, measured.values()
        outcome.measured = {**outcome.measured, "declarations": declarations_of(pair)}
        if settings.noise:
            outcome.noise = noise_floor(world, engines[0], settings, progress)
        if ledger is not None:
            known = {entry.id: pair.explained.get(entry.id, 0) for entry in ledger.entries}
            outcome.met = {entry.id: len(pair.met[entry.id]) for entry in ledger.entries}
            faults += [] if outcome.divergences else ledger.faults(known, outcome.steps)
            outcome.ledger, outcome.known = ledger, known
        outcome.reasons = [*map(_reason_of_fault, faults)]
        outcome.reasons += (_reason_of(pair, found) for found in outcome.divergences)
        if not outcome.reasons:
            # at other prices, and in recorded traces, an accepted limitation may be absent
            is_whole = not (traces or settings.mode == FREE_RUNNING or changed_prices(world))
            limits = limits_of(pair, measured, settings, outcome.steps, outcome.noise)
            outcome.reasons, outcome.accepted = judged(world, limits, acceptances_hold=is_whole)
    return outcome


def _reason_of_fault(sentence: str) -> Reason:
    what, _, remedy = sentence.removesuffix(".").rpartition(": ")
    return divergent("ledger", what, "", remedy)


def _reason_of(pair: Pair, found: Divergence) -> Reason:
    fields = ", ".join(difference.field for difference in found.differences[:3])
    where, remedy = f"differs at step {found.step} in {fields}", "replay its trace"
    if pair.world.states_replay and found.step == 0:
        remedy = "if they draw differently, write a rlparity.Pairing whose games have states, and give --mode injected"
    return divergent("difference", f"game {found.game}", where, remedy)


def _run_games(pair: Pair, settings: Settings, progress: Callable[[], object]) -> Outcome:
    tape = pair.world.engines[pair.names[0]]
    is_free, began = settings.mode == FREE_RUNNING, time.perf_counter()
    run = FreeRun(pair, settings) if is_free else LockstepRun(pair, settings)
    try:
        run.play_tape(tape, progress) if isinstance(tape, RecordedRun) else run.play(progress)
        if not is_free:
            run.check(pair.look(), pair.all)  # what the last step left
            run.check_dicts(pair.all)
    except EngineError as error:
        raise EngineError(f"{error} That was after {run.taken} steps, with seed {settings.seed}.") from error
    run.outcome.seconds = time.perf_counter() - began
    if settings.marks:
        run.outcome.marks = pair.marks()
    # an engine whose noise is measured need not repeat itself
    is_noisy = bool(run.outcome.divergences and settings.noise)
    for engine in () if is_free or is_noisy else pair.both[1 if isinstance(tape, RecordedRun) else 0 :]:
        # an engine whose games never begin from seeds need not take any
        seeds = settings.mode == STRICT or engine is pair.reference
        how = {"restarting": settings.auto_reset, "seeds": seeds, "repeats": bool(run.outcome.divergences)}
        assert pair.measured is not None
        pair.measured.ignored |= check_engine(engine, settings.seed, **how)
    return run.outcome


def _run_traces(pair: Pair, traces: Sequence[Trace], settings: Settings, progress: Callable[[], object]) -> Outcome:
    """Play traces one after another and compare everything."""
    outcome, began = Outcome(), time.perf_counter()
    for number, trace in enumerate(traces):
        outcome.episodes += 1
        outcome.games_begun += 1
        found = differs_at(pair, trace.case, game=number)
        # a start at which engines agree but once differed counts as one step
        steps = max(len(trace.case.actions), bool(trace.differences))
        outcome.steps += steps if found is None else found.step
        outcome.divergences += [found] if found else []
        progress()
        if len(outcome.divergences) >= settings.stop_after:
            break
    outcome.seconds = time.perf_counter() - began
    if settings.marks:
        outcome.marks = pair.marks()
    return outcome


def _read_traces(world: World, folder: Path) -> list[Trace]:
    traces = {path: read_trace(path) for path in trace_files(folder)}
    for path, trace in traces.items():
        check_actions(world, trace, path)
    return [*traces.values()]


def check_witnesses(world: World, engines: tuple[str, str], ledger: Ledger, timeout: float) -> list[str]:
    """Replay the witnesses of a ledger; returns a sentence for each whose differences are no longer the recorded ones.

    ``ledger``: opened for these engines. Raises UsageError where two entries explain one field, EngineError where an
    engine fails.
    """
    faults = []
    ordered = sorted(ledger.entries, key=_prices)
    for _, entries in groupby(ordered, _prices):
        several = [*entries]
        priced = world.with_prices(several[0].witness.prices)
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
    """Differences except marks as sorted JSON texts, whose order does not depend on how they were compared."""
    return sorted(json_text(asdict(each)) for each in differences if each.family != MARKS)


def _words(differences: tuple[Difference, ...]) -> str:
    each = [f"{found.field} {value_text(found.expected)} and {value_text(found.observed)}" for found in differences]
    return ", ".join(each[:3]) or "no difference"


class NoiseRun(LockstepRun):
    """Run of an engine against itself that measures the differences; ``floor``: noise by field."""

    def __init__(self, pair: Pair, settings: Settings, floor: dict[str, Noise]) -> None:
        super().__init__(pair, settings)
        self.floor = floor

    def check(self, seen: Outputs, slots: Slots, *then: Action) -> None:
        """Measure the differences; a game that is not resynchronised at each step is then replaced by a new one."""
        for row in np.flatnonzero(self.pair.rows_that_differ(seen) & self.active[slots]):
            slot = int(slots[row])
            for found in self.pair.explain(seen, int(row), slot):
                name = re.sub(r"\[[^\]]*\]", "", found.field)
                self.floor.setdefault(name, Noise(name)).add(found.expected, found.observed)
            self.active[slot] = self._injects_steps


def noise_floor(
    world: World, engine: str, settings: Settings, progress: Callable[[], object] = lambda: None
) -> dict[str, Noise]:
    """Play an engine against itself in ``settings.noise`` runs; returns the noise by field.

    Both sides are put into the same state before each step, where the engine has states.
    """
    floor: dict[str, Noise] = {}
    for number in range(settings.noise):
        with Pair(replace(world, tolerances={}), (engine, engine), settings.games, timeout=settings.timeout) as pair:
            mode = STRICT if pair.replays_states else RESYNCHRONISED
            alone = replace(settings, seed=settings.seed + number, mode=mode, auto_reset=False, marks=False)
            NoiseRun(pair, alone, floor).play(progress)
    return floor

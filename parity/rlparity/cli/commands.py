"""The ``rlparity`` commands; every function returns the exit code."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rlparity.core.ledger import read_ledger
from rlparity.core.lockstep import run as run_lockstep
from rlparity.core.prices import changed_prices, draw_prices, priced, with_prices
from rlparity.core.settings import FREE_RUNNING, STRICT, Outcome, Settings, settings_of
from rlparity.core.sources import TRACES
from rlparity.core.trace import demand_steps, read_trace
from rlparity.debug.attach import check_screen, open_at
from rlparity.engines.registry import load_pair, load_traced, load_world, world_spec
from rlparity.engines.tape import Tape, take_settings
from rlparity.errors import UsageError
from rlparity.io.atomic_write import check_output
from rlparity.io.console import counted, open_console, print_answer
from rlparity.tools.coverage import coverage_of, require_marks
from rlparity.tools.finding import Finding, grouped, investigate, replay_command, replayed
from rlparity.tools.mutant_judges import LockstepJudge, PytestJudge, project_bench
from rlparity.tools.mutants import SURVIVED, Judge, Verdict, chosen_benches, chosen_mutants, run_mutants
from rlparity.tools.printing import print_coverage, print_mutants, print_notes, print_rewards, print_run
from rlparity.tools.recording import record_tape
from rlparity.tools.report import print_report, write_report
from rlparity.tools.rewards import accept, all_changes, golden_folder, replay_golden
from rlparity.tools.rewards import record as record_episodes
from rlparity.world import World

if TYPE_CHECKING:
    from rich.console import Console


def run(options: Namespace) -> int:
    """Compare two engines over many games."""
    if options.debug:
        if options.json:
            raise UsageError("--debug shows a screen, and --json prints nothing but JSON: leave one out.")
        check_screen(", or leave --debug out")
    world, spec, engines = _pair(options)
    outcome, findings, answer = _compared(world, spec, engines, options)

    def show(console: Console) -> None:
        print_run(world, engines, outcome, findings, console, options.mode)
        print_notes(world, outcome, answer["prices"], console)

    print_answer(options, answer, show)
    if options.debug and outcome.divergences:
        open_at(spec, world, engines, outcome.divergences[0], options.timeout)
    return 0 if outcome.passed else 1


def replay(options: Namespace) -> int:
    """Replay one trace."""
    trace = read_trace(options.trace)
    world, engines = load_traced(
        trace,
        options.trace,
        options.world,
        options.engines,
        lambda world: priced(with_prices(world, trace.prices), options),
    )
    command = replay_command(options.trace, options.world, options.engines)
    report = replayed(world, trace, options.trace, engines, timeout=options.timeout, command=command)
    shown = report.trace
    if not shown.differences:
        demand_steps([trace], options.trace)
    if options.html:
        write_report(report, options.html)
    answer = {
        "identical": not shown.differences,
        "actions": len(report.moments) - 1,
        "rules": list(shown.rules),
        "differences": [asdict(difference) for difference in shown.differences],
    }
    print_answer(options, answer, lambda console: print_report(report, console))
    return 1 if shown.differences else 0


def coverage(options: Namespace) -> int:
    """Compare two engines and count which rules fired."""
    world, spec, engines = _pair(options)
    require_marks(world)
    outcome, findings, answer = _compared(world, spec, engines, options, marks=True)
    assert outcome.marks is not None
    found = coverage_of(world, outcome.marks)
    answer |= {
        "rules": {rule: found.hits(rule) for rule in found.rules},
        "marks": [asdict(mark) for mark in found.marks],
        "never": list(found.never()),
        "rare": list(found.rare()),
        "silent_marks": list(found.silent_marks()),
        "unequal_marks": [mark.mark for mark in found.unequal()],
    }

    def show(console: Console) -> None:
        print_coverage(found, engines, console)
        print_run(world, engines, outcome, findings, console, options.mode)

    print_answer(options, answer, show)
    return 1 if not outcome.passed or found.never() or found.unequal() else 0


def rewards(options: Namespace) -> int:
    """Replay the golden episodes and show, or accept, what changed; a world of one engine has them replayed on it."""
    world, _, engines = _pair(options, one_will_do=True)
    if options.accept and changed_prices(world):
        raise UsageError("--accept renews episodes with the game's own prices: leave --price and --prices out.")
    folder = golden_folder(world, options.golden)
    if options.accept:
        check_output(folder / "episode.json")
    episodes = replay_golden(world, engines, folder, options.timeout)
    new, changes, disagreements = all_changes(world, episodes)
    renewed = accept(world, episodes) if options.accept and not disagreements else 0
    answer = {
        "episodes": len(episodes),
        "transitions": sum(len(episode.golden.case.actions) for episode in episodes),
        "new_components": new,
        "changes": [asdict(change) for change in changes],
        "engines_agree": not disagreements,
        "disagreements": [asdict(change) for change in disagreements],
        "accepted": renewed,
    }

    def show(console: Console) -> None:
        print_rewards(world, engines, episodes, console)
        if options.accept:
            refusal = "Nothing is accepted while the engines disagree."
            console.print(refusal if disagreements else f"Accepted: {counted(renewed, 'episode')} renewed.")

    print_answer(options, answer, show)
    return 1 if disagreements or (changes and not options.accept) else 0


def record(options: Namespace) -> int:
    """Record golden episodes, or a tape."""
    world, spec, engines = _pair(options, one_will_do=True)
    if options.source.startswith(TRACES):
        raise UsageError(
            "episodes are recorded from new play: give --source uniform, directed, explore or policy:FILE."
        )
    for_tapes = options.states or options.marks or options.auto_reset or options.mode != STRICT
    if options.out if options.tape else for_tapes:
        raise UsageError("--states, --marks, --auto-reset and --mode go with --tape DIR, which has no --out.")
    if options.tape:
        return _record_tape(world, engines[0], options)
    folder = golden_folder(world, options.out)
    check_output(folder / "episode.json", makes_folders=True)
    paths = record_episodes(world, spec, engines, _settings(options), folder)
    answer = {"files": [str(path) for path in paths]}
    print_answer(
        options, answer, lambda console: console.print(f"Recorded {counted(len(paths), 'episode')} in {folder}.")
    )
    return 0


def _record_tape(world: World, engine: str, options: Namespace) -> int:
    unknown = () if options.states else ("state",)
    with progress_bar(options.json, "steps of each game", options.steps) as advance:
        tape = record_tape(world, engine, _settings(options, marks=options.marks), options.tape, unknown, advance)
    answer = {"tape": str(tape.folder), "digest": tape.manifest()["digest"], "unknown": sorted(tape.unknown)}
    print_answer(options, answer, lambda console: console.print(f"Recorded {tape.folder}, digest {answer['digest']}."))
    return 0


def mutants(options: Namespace) -> int:
    """Plant faults and see whether the harness, or the tests that a table names, notice."""
    judge: Judge
    if options.tests is not None:
        if options.world or options.engine or options.ledger:
            raise UsageError("the mutants of --tests belong to no world: leave --world, --engine and --ledger out.")
        name = str(options.tests)
        judge, chosen = PytestJudge(), chosen_mutants([project_bench(options.tests)], options.only)
    else:
        spec = world_spec(options.world, [options.engine] if options.engine else ())
        world = priced(load_world(spec), options)
        name, judge = world.name, LockstepJudge(world, spec, _settings(options))
        chosen = chosen_benches(world, options.engine, options.only)
    verdicts: list[Verdict] = []
    with progress_bar(options.json, "mutants", sum(len(mutants) for _, mutants in chosen)) as advance:
        for bench, planted in chosen:
            verdicts += run_mutants(bench, planted, judge, options.jobs, advance)
    judged = [verdict for verdict in verdicts if verdict.is_judged]
    caught = sum(verdict.noticed for verdict in judged)
    answer = {
        "world": name,
        "mutants": [
            {"name": verdict.mutant.name, "rules": list(verdict.mutant.rules)}
            | {name: getattr(verdict, name) for name in ("engine", "result", "steps", "detail")}
            for verdict in verdicts
        ],
        "caught": caught,
        "judged": len(judged),
        "share": caught / len(judged) if judged else 0.0,
        "survivors": [verdict.mutant.name for verdict in judged if verdict.result == SURVIVED],
        "unbuildable": [verdict.mutant.name for verdict in verdicts if not verdict.is_judged],
    }
    print_answer(options, answer, lambda console: print_mutants(verdicts, caught, len(judged), console))
    return 0 if caught == len(verdicts) else 1


def _pair(options: Namespace, *, one_will_do: bool = False) -> tuple[World, str, tuple[str, str]]:
    """The world, what ``--world`` calls it, and the two engines to hold to each other."""
    spec = world_spec(options.world, options.engines or ())
    world = priced(load_world(spec), options)
    return load_pair(world, options.engines, spec=spec, one_will_do=one_will_do)


def _settings(options: Namespace, *, marks: bool = False) -> Settings:
    ledger = read_ledger(options.ledger) if getattr(options, "ledger", None) else None
    return settings_of(options, marks=marks, stop_after=getattr(options, "max_divergences", 1), ledger=ledger)


def _compared(
    world: World, spec: str, engines: tuple[str, str], options: Namespace, *, marks: bool = False
) -> tuple[Outcome, list[Finding], dict[str, Any]]:
    """Run both engines; returns the outcome, a finding for each divergence, and both as JSON values."""
    if isinstance(tape := world.engines[engines[0]], Tape):
        take_settings(options, tape)
    settings = _settings(options, marks=marks)
    if settings.mode != STRICT and (settings.auto_reset or settings.source.startswith(TRACES)):
        raise UsageError(f"--mode {settings.mode} goes with neither --auto-reset nor recorded traces: leave them out.")
    if settings.mode == FREE_RUNNING and (marks or settings.ledger or isinstance(tape, Tape)):
        raise UsageError(f"--mode {FREE_RUNNING} goes with no tape, no --ledger and no coverage: leave them out.")
    if settings.mode not in (STRICT, FREE_RUNNING) and world.states_replay:
        raise UsageError(
            f"the engines of world '{world.name}' have no states that --mode {settings.mode} could inject: write a "
            "rlparity.Pairing whose games have pull and push."
        )
    if not options.no_report:
        check_output(options.out / "trace.json", makes_folders=True)
    if options.draw_prices:
        world = draw_prices(world, settings.seed)
    with progress_bar(options.json, "steps of each game", settings.steps) as advance:
        outcome = run_lockstep(world, engines, settings, advance)
    findings: list[Finding] = []
    for number, alike in enumerate(() if options.no_report else grouped(outcome.divergences), start=1):
        trace_path = options.out / ("trace.json" if number == 1 else f"trace-{number}.json")
        how = {"settings": settings, "shrink_seconds": options.shrink_seconds, "ledger": outcome.ledger}
        findings.append(investigate(world, spec, engines, alike, trace_path, **how))
    divergences: list[dict[str, Any]] = [
        {"game": found.game, "step": found.step, "fields": [difference.field for difference in found.differences]}
        for found in outcome.divergences
    ]
    for finding in findings:
        divergences[outcome.divergences.index(finding.alike[0])] |= {
            "alike": len(finding.alike),
            "trace": str(finding.trace_path),
            "report": str(finding.page_path),
            "rules": list(finding.report.trace.rules),
            "phase": finding.report.phase,
            "shrunk_actions": len(finding.report.trace.case.actions),
        }
    answer = {
        "passed": outcome.passed,
        "identical": not outcome.divergences and not any(outcome.known.values()),
        "world": world.name,
        "prices": changed_prices(world),
        "tolerances": {field: [str(each) for each in world.tolerances_of(field)] for field in world.tolerances},
        "engines": list(engines),
        "mode": settings.mode,
        **{name: getattr(options, name) for name in ("source", "seed", "games")},
        "steps_compared": outcome.steps,
        "episodes": outcome.episodes,
        "seconds": round(outcome.seconds, 3),
        "divergences": divergences,
        "is_black_box": outcome.is_black_box,
        "known": outcome.known,
        "ledger_faults": outcome.faults,
        "effect": outcome.effect and outcome.effect.values(engines),
    }
    return outcome, findings, answer


@contextmanager
def progress_bar(silent: bool, what: str, total: int) -> Iterator[Callable[[], None]]:
    """A function that moves a bar on standard error on by one; silent without a terminal."""
    console = open_console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=silent or not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)

"""The ``rlparity`` commands; every function returns the exit code."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rlparity.cli.flags import settings_of
from rlparity.core.ledger import read_ledger
from rlparity.core.lockstep import run as run_lockstep
from rlparity.core.prices import changed_prices, draw_prices, priced
from rlparity.core.settings import FREE_RUNNING, STRICT, Outcome, Settings
from rlparity.core.sources import TRACES
from rlparity.core.trace import read_trace
from rlparity.core.verdict import Verdict
from rlparity.debug.attach import check_screen, open_at
from rlparity.engines.registry import load_pair, load_traced, load_world, world_spec
from rlparity.engines.tape import Tape, take_settings
from rlparity.errors import UsageError
from rlparity.io.atomic_write import check_output
from rlparity.io.console import counted, open_console, print_answer
from rlparity.tools.coverage import coverage_of, require_marks
from rlparity.tools.finding import Finding, grouped, investigate, replay_command, replayed
from rlparity.tools.printing import effect_values, noise_table, print_coverage, print_notes, print_rewards, print_run
from rlparity.tools.recording import record_tape
from rlparity.tools.report import print_report, write_report
from rlparity.tools.rewards import accept, all_changes, golden_folder, replay_golden
from rlparity.tools.rewards import record as record_episodes
from rlparity.world import World

if TYPE_CHECKING:
    from rich.console import Console


def run(options: Namespace) -> int:
    """Play many games on both engines and compare everything at every step.

    Both engines get the same seeds and actions. Observations, masks, rewards, ends and states must be the same, bit
    for bit. The first difference is shrunk to a start and a few actions, and written as a trace, which `rlparity
    replay` plays again, and as a page.

    Examples:
        rlparity run --world my_module:WORLD
        rlparity run --world my_module:WORLD --engines original,port --games 256 --steps 500
        rlparity run --world my_module:WORLD --engines port@rev:main,port
        rlparity run --engines gym:CartPole-v1,gymvec:CartPole-v1
    """
    if options.debug:
        if options.json:
            raise UsageError("--debug shows a screen, and --json prints nothing but JSON: leave one out.")
        check_screen(", or leave --debug out")
    world, spec, engines = _pair(options)
    outcome, findings, answer = _compared(world, spec, engines, options)

    def show(console: Console) -> None:
        print_run(world, engines, outcome, findings, console, options.mode)
        if outcome.noise is not None:
            noise_table(outcome.noise, engines[0], options.noise).print(console)
        print_notes(world, answer["prices"], console)

    print_answer(options, answer, show)
    if options.debug and outcome.divergences:
        open_at(spec, world, engines, outcome.divergences[0], options.timeout)
    return outcome.verdict.exit_code(strict=options.strict)


def replay(options: Namespace) -> int:
    """Replay a trace on both engines and report what differs.

    A trace is a JSON file of a start and actions, which `rlparity run` writes where engines differ.

    Examples:
        rlparity replay --world my_module:WORLD rlparity-report/trace.json
    """
    trace = read_trace(options.trace)
    world, engines = load_traced(
        trace,
        options.trace,
        options.world,
        options.engines,
        lambda world: priced(world.with_prices(trace.prices), options),
    )
    command = replay_command(options.trace, options.world, options.engines)
    report = replayed(world, trace, options.trace, engines, timeout=options.timeout, command=command)
    shown = report.trace
    verdict = Verdict.PASS if trace.case.actions or trace.differences else Verdict.INCONCLUSIVE
    verdict = Verdict.DIVERGENT if shown.differences else verdict
    if options.html:
        write_report(report, options.html)
    answer = {
        "verdict": verdict,
        "actions": len(report.moments) - 1,
        "rules": list(shown.rules),
        "differences": [asdict(difference) for difference in shown.differences],
    }

    def show(console: Console) -> None:
        print_report(report, console)
        if verdict == Verdict.INCONCLUSIVE:
            console.print(f"{verdict}: no step is compared: give a trace with actions.")

    print_answer(options, answer, show)
    return verdict.exit_code()


def coverage(options: Namespace) -> int:
    """Run, count how often each rule fired, and compare the counts.

    A world may have marks, each of which belongs to a rule of the game. Engines count how often each mark fires;
    one that never does stands for a rule that the games did not test.

    Examples:
        rlparity coverage --world my_module:WORLD --games 256
    """
    world, spec, engines = _pair(options)
    require_marks(world)
    outcome, findings, answer = _compared(world, spec, engines, options, marks=True)
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
    code = outcome.verdict.exit_code(strict=options.strict)
    return 1 if code == 0 and (found.never() or found.unequal()) else code


def rewards(options: Namespace) -> int:
    """Replay the golden episodes and show what changed in their rewards.

    Golden episodes are games that `rlparity record` wrote down. A reward that is another one than was recorded is
    listed by its components.

    Examples:
        rlparity rewards --world my_module:WORLD --golden golden
        rlparity rewards --world my_module:WORLD --golden golden --accept
    """
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
    """Record golden episodes, or a tape, on the reference engine.

    A golden episode has the actions and rewards of one game, for `rlparity rewards`. A tape has all that an engine
    gives in many games, so that another engine can be compared with it where the first cannot run.

    Examples:
        rlparity record --world my_module:WORLD --output golden
        rlparity record --world my_module:WORLD --engines original,port --tape tape --states
        rlparity run --world my_module:WORLD --engines tape:tape,port
    """
    world, spec, engines = _pair(options, one_will_do=True)
    if options.source.startswith(TRACES):
        raise UsageError(
            "episodes are recorded from new play: give --source uniform, directed, explore or policy:FILE."
        )
    for_tapes = options.states or options.marks or options.auto_reset or options.mode != STRICT
    if options.output if options.tape else for_tapes:
        raise UsageError("--states, --marks, --auto-reset and --mode go with --tape DIR, which has no --output.")
    if options.tape:
        return _record_tape(world, engines[0], options)
    folder = golden_folder(world, options.output)
    check_output(folder / "episode.json", makes_folders=True)
    paths = record_episodes(world, spec, engines, run_settings(options), folder)
    answer = {"files": [str(path) for path in paths]}
    print_answer(
        options, answer, lambda console: console.print(f"Recorded {counted(len(paths), 'episode')} in {folder}.")
    )
    return 0


def _record_tape(world: World, engine: str, options: Namespace) -> int:
    settings = run_settings(options, marks=options.marks)
    with progress_bar(options.json, "steps of each game", options.steps) as advance:
        tape = record_tape(world, engine, settings, options.tape, advance, states=options.states)
    answer = {"tape": str(tape.folder), "digest": tape.manifest()["digest"], "unknown": sorted(tape.unknown)}
    print_answer(options, answer, lambda console: console.print(f"Recorded {tape.folder}, digest {answer['digest']}."))
    return 0


def _pair(options: Namespace, *, one_will_do: bool = False) -> tuple[World, str, tuple[str, str]]:
    """The world, what ``--world`` calls it, and the two engines to hold to each other."""
    spec = world_spec(options.world, options.engines or ())
    world = priced(load_world(spec), options)
    return load_pair(world, options.engines, spec=spec, one_will_do=one_will_do)


def run_settings(options: Namespace, *, marks: bool = False) -> Settings:
    """The settings of a run, as the flags of the command line have them."""
    ledger = read_ledger(options.ledger) if getattr(options, "ledger", None) else None
    return settings_of(options, marks=marks, stop_after=getattr(options, "max_divergences", 1), ledger=ledger)


def _compared(
    world: World, spec: str, engines: tuple[str, str], options: Namespace, *, marks: bool = False
) -> tuple[Outcome, list[Finding], dict[str, Any]]:
    """Run both engines; returns the outcome, a finding for each divergence, and both as JSON values."""
    if isinstance(tape := world.engines[engines[0]], Tape):
        take_settings(options, tape)
    settings = run_settings(options, marks=marks)
    if settings.mode != STRICT and (settings.auto_reset or settings.source.startswith(TRACES)):
        raise UsageError(f"--mode {settings.mode} goes with neither --auto-reset nor recorded traces: leave them out.")
    if settings.mode == FREE_RUNNING and (marks or settings.ledger or isinstance(tape, Tape)):
        raise UsageError(f"--mode {FREE_RUNNING} goes with no tape, no --ledger and no coverage: leave them out.")
    if not options.no_report:
        check_output(options.output / "trace.json", makes_folders=True)
    if options.draw_prices:
        world = draw_prices(world, settings.seed)
    with progress_bar(options.json, "steps of each game", settings.steps) as advance:
        outcome = run_lockstep(world, engines, settings, advance)
    findings: list[Finding] = []
    for number, alike in enumerate(() if options.no_report else grouped(outcome.divergences), start=1):
        trace_path = options.output / ("trace.json" if number == 1 else f"trace-{number}.json")
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
        "verdict": outcome.verdict,
        "reasons": [asdict(reason) for reason in outcome.reasons],
        "accepted": [reason.name for reason in outcome.accepted],
        "world": world.name,
        "prices": changed_prices(world),
        "tolerances": {field: [str(world.tolerance_of(field))] for field in world.tolerances},
        "engines": list(engines),
        "mode": settings.mode,
        **{name: getattr(options, name) for name in ("source", "seed", "games")},
        "steps_compared": outcome.steps,
        "episodes": outcome.episodes,
        "seconds": round(outcome.seconds, 3),
        "divergences": divergences,
        "is_black_box": outcome.is_black_box,
        "known": outcome.known,
        "measured": outcome.measured,
        "noise": None if outcome.noise is None else noise_table(outcome.noise, engines[0], settings.noise).values(),
        "effect": outcome.effect and effect_values(outcome.effect, engines),
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

"""Functions of the ``rlparity`` commands that run engines; each returns an Answer."""

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rlparity.cli.flags import settings_of
from rlparity.core.ledger import read_ledger
from rlparity.core.lockstep import run as run_lockstep
from rlparity.core.prices import changed_prices, draw_prices, priced, read_prices
from rlparity.core.settings import FREE_RUNNING, STRICT, Outcome, Settings
from rlparity.core.sources import TRACES
from rlparity.core.trace import read_trace
from rlparity.core.verdict import Verdict
from rlparity.debug.attach import check_screen, open_at
from rlparity.engines.registry import load_pair, load_traced, load_world, world_spec
from rlparity.engines.tape import Tape, take_settings
from rlparity.errors import UsageError
from rlparity.io.atomic_write import check_output
from rlparity.io.console import Answer, counted, open_console
from rlparity.tools.coverage import coverage_of, require_marks
from rlparity.tools.divergence import divergence_document
from rlparity.tools.documents import CoverageDocument, EpisodesDocument, ReplayDocument, RunDocument, TapeDocument
from rlparity.tools.finding import Finding, grouped, investigate, next_commands, replayed
from rlparity.tools.printing import noise_table, print_coverage, print_notes, print_rewards, print_run, run_document
from rlparity.tools.recording import record_tape
from rlparity.tools.report import print_report, report_page
from rlparity.tools.rewards import accept, golden_folder, replay_golden, rewards_document
from rlparity.tools.rewards import record as record_episodes
from rlparity.viewer.write import write_page
from rlparity.world import World

PROGRESS_SECONDS = 30.0
"""Seconds between two progress lines, where no terminal shows a bar."""


def run(options: Namespace) -> Answer:
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
    outcome, findings, document = _compared(world, spec, engines, options)

    def show(console: Console) -> None:
        print_run(world, engines, outcome, findings, console, options.mode)
        if outcome.noise is not None:
            noise_table(outcome.noise, engines[0], options.noise).print(console)
        print_notes(world, document.prices, console)
        if options.debug and outcome.divergences:
            open_at(spec, world, engines, outcome.divergences[0], options.timeout)

    return Answer(document, show, outcome.verdict.exit_code(strict=options.strict))


def replay(options: Namespace) -> Answer:
    """Replay a trace on both engines and report what differs.

    A trace is a JSON file of a start and actions, which `rlparity run` writes where engines differ.

    Examples:
        rlparity replay --world my_module:WORLD rlparity-report/trace.json
    """
    trace = read_trace(options.trace)
    changes = {**trace.prices, **read_prices(options.price, options.prices)}
    world, engines = load_traced(trace, options.trace, options.world, options.engines, changes)
    following = next_commands(options.trace, options.world, options.engines)
    report = replayed(world, trace, options.trace, engines, timeout=options.timeout, following=following)
    shown = report.trace
    verdict = Verdict.PASS if trace.case.actions or trace.differences else Verdict.INCONCLUSIVE
    verdict = Verdict.DIVERGENT if shown.differences else verdict
    if options.html:
        write_page(report_page(report), world, options.html)
    divergence = divergence_document(report) if shown.differences else None
    document = ReplayDocument(verdict, len(report.moments) - 1, shown.rules, shown.differences, divergence)

    def show(console: Console) -> None:
        print_report(report, console)
        if verdict == Verdict.INCONCLUSIVE:
            console.print(f"{verdict}: no step is compared: give a trace with actions.")

    return Answer(document, show, verdict.exit_code())


def coverage(options: Namespace) -> Answer:
    """Run both engines, and compare how often each rule fired.

    A world may have marks, each of which belongs to a rule of the game. Engines count how often each mark fires. A
    mark that never fires belongs to a rule that the games did not test.

    Examples:
        rlparity coverage --world my_module:WORLD --games 256
    """
    world, spec, engines = _pair(options)
    require_marks(world)
    outcome, findings, run_found = _compared(world, spec, engines, options, marks=True)
    found = coverage_of(world, outcome.marks)
    document = CoverageDocument(**vars(run_found), **vars(found))

    def show(console: Console) -> None:
        print_coverage(found, engines, console)
        print_run(world, engines, outcome, findings, console, options.mode)

    code = outcome.verdict.exit_code(strict=options.strict)
    return Answer(document, show, 1 if code == 0 and (found.never or found.unequal_marks) else code)


def rewards(options: Namespace) -> Answer:
    """Replay the golden episodes and show what changed in their rewards.

    Golden episodes are games that `rlparity record` wrote. A reward that differs from the recorded one is listed by
    its components.

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
    found = rewards_document(world, episodes)
    if options.accept and found.engines_agree:
        found = replace(found, accepted=accept(world, episodes))

    def show(console: Console) -> None:
        print_rewards(world, engines, found, console)
        if options.accept:
            said = f"Accepted: {counted(found.accepted, 'episode')} renewed."
            console.print(said if found.engines_agree else "Nothing is accepted while the engines disagree.")

    return Answer(found, show, 1 if found.disagreements or (found.changes and not options.accept) else 0)


def record(options: Namespace) -> Answer:
    """Record golden episodes, or a tape, on the reference engine.

    A golden episode holds the actions and rewards of one game, for `rlparity rewards`. A tape holds everything that
    an engine returns in many games, so that another engine can be compared with it where the first cannot run.

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
    said = f"Recorded {counted(len(paths), 'episode')} in {folder}."
    return Answer(EpisodesDocument([*map(str, paths)]), lambda console: console.print(said))


def _record_tape(world: World, engine: str, options: Namespace) -> Answer:
    settings = run_settings(options, marks=options.marks)
    with progress_bar(options.json, "steps of each game", options.steps) as advance:
        tape = record_tape(world, engine, settings, options.tape, advance, states=options.states)
    document = TapeDocument(str(tape.folder), tape.manifest()["digest"], sorted(tape.unknown))
    return Answer(document, lambda console: console.print(f"Recorded {tape.folder}, digest {document.digest}."))


def _pair(options: Namespace, *, one_will_do: bool = False) -> tuple[World, str, tuple[str, str]]:
    """Load the world, its ``--world`` spec, and the names of the two engines to compare."""
    spec = world_spec(options.world, options.engines or ())
    world = priced(load_world(spec), options)
    return load_pair(world, options.engines, spec=spec, one_will_do=one_will_do)


def run_settings(options: Namespace, *, marks: bool = False) -> Settings:
    """Make the settings of a run from the command-line flags."""
    ledger = read_ledger(options.ledger) if getattr(options, "ledger", None) else None
    return settings_of(options, marks=marks, stop_after=getattr(options, "max_divergences", 1), ledger=ledger)


def _compared(
    world: World, spec: str, engines: tuple[str, str], options: Namespace, *, marks: bool = False
) -> tuple[Outcome, list[Finding], RunDocument]:
    """Run both engines; return the outcome, a finding for each group of divergences, and the document."""
    if isinstance(tape := world.engines[engines[0]], Tape):
        take_settings(options, tape)
    settings = run_settings(options, marks=marks)
    if settings.mode != STRICT and (settings.auto_reset or settings.source.startswith(TRACES)):
        raise UsageError(f"--mode {settings.mode} goes with neither --auto-reset nor recorded traces: leave them out.")
    others = marks or settings.ledger or settings.source == "explore" or isinstance(tape, Tape)
    if settings.mode == FREE_RUNNING and others:
        raise UsageError(f"--mode {FREE_RUNNING} goes with no tape, no --ledger, coverage or explore: leave them out.")
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
    return outcome, findings, run_document(world, engines, settings, outcome, findings)


@contextmanager
def progress_bar(silent: bool, what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error and yield its advance function; without a terminal, print lines."""
    console = open_console(stderr=True, quiet=silent)
    if not console.is_terminal:
        yield _progress_lines(console, what, total)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


def _progress_lines(console: Console, what: str, total: int) -> Callable[[], None]:
    begun = printed = monotonic()
    done = 0

    def advance() -> None:
        nonlocal done, printed
        done, now = done + 1, monotonic()
        if now - printed >= PROGRESS_SECONDS:
            printed = now
            left = f" of {total:,}, {(now - begun) / done * (total - done):.0f} s left" if done <= total else ""
            console.print(f"{what}: {done:,}{left}")

    return advance

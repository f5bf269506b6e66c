"""``python -m goodharts.training.train_ppo``, or ``goodharts train``: train agents of one or more modes with PPO."""

import argparse
import contextlib
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from rich.console import Console

from goodharts.config import ALL, BENCHMARK_UPDATES, COMPILE_MODES, JAX, Config, Modes, read_config
from goodharts.rules import ACTIONS, DEFAULT_MODE, MODES, MOVES
from goodharts.training.jobs import RUNS, Job, ended_text, folders_of, jobs_of, write_checkpoint
from goodharts.training.runs import RunResult, engine_of, reserved, train_job
from goodharts.training.torchrun import is_launched, rank
from goodharts.world import WORLDS
from rlparity.core.prices import add_price_flags, read_prices
from rlparity.errors import INTERRUPTED_EXIT_CODE, UsageError
from rlparity.io.arguments import ALL_STEPS, SEEDS, OneOf, Parser
from rlparity.io.console import open_console, typed_command
from rlworldkit.extras import install_package
from rlworldkit.jax.xla import available_cores, enable_compilation_cache, prefer_wide_vectors
from rlworldkit.runs.console import ConsoleProgress, print_line, print_nothing_to_save
from rlworldkit.runs.folder import CURVE, METRICS
from rlworldkit.runs.live_page import ActionLabel, LivePage
from rlworldkit.runs.pool import RunTask, parent_process, train_many
from rlworldkit.runs.sinks import Metrics, read_csv
from rlworldkit.runs.stop import StopRequest
from rlworldkit.sections import add_setting, flags_given

MODULE, COMMAND = "goodharts.cli.main", "train"
TITLE = "Goodharts training"
"""Title of the page of a run."""
_LINES_PER_RUN = 32
"""Lines of progress that a run prints where there is no terminal."""
_SIGNS = "↖←↙↑↓↗→↘"
"""Arrows of the moves, in their order."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `goodharts train`, by default with the process's own arguments, and return the exit code."""
    code: int = resolve_name(f"{MODULE}:main")([COMMAND, *(sys.argv[1:] if argv is None else argv)])
    return code


def train(argv: Sequence[str]) -> int:
    """Run the command; return 0, 1 if a mode failed or a file is incomplete, or 130 if stopped with nothing to keep.

    Raises ParityError where training is impossible or diverges.
    """
    prefer_wide_vectors()  # before anything imports JAX
    enable_compilation_cache("goodharts")
    if parent := parent_process():
        with StopRequest(give_up=lambda: None) as stop:  # a run with nothing to keep ends at once, even if it compiles
            parent.finish(train_job(parent.job, report=parent.report, print_line=parent.print_line, stop=stop))
        return 0
    return _train(_parser().parse_args(argv))


def _parser() -> Parser:
    parser = Parser(
        prog="goodharts train",
        description="Train agents with PPO. Settings: config.default.toml, config.toml, GOODHARTS_* variables, flags.",
        epilog="Ctrl+C saves the run and prints the command that resumes it.",
        allow_abbrev=False,
    )
    modes = f"modes to train: {', '.join(MODES)}; several separated by commas; {ALL}: the default four at once"
    parser.add_argument("-m", "--mode", type=Modes(), default=("ground_truth",), help=f"{modes} (default ground_truth)")
    length = parser.add_mutually_exclusive_group()
    add_setting(length, Config, "training", "updates", "-u", "--updates")
    most = "total steps of all games, rounded down to whole updates, instead of --updates"
    length.add_argument(
        "-t", "--total-timesteps", "--timesteps", dest="timesteps", type=ALL_STEPS, metavar="N", help=most
    )
    add_setting(parser, Config, "training", "n_envs", "-e", "--num-envs")
    for key in ("seed", "learning_rate", "network", "engine"):
        add_setting(parser, Config, "training", key)
    seeds = "number of runs of each mode, with seeds --seed, --seed + 1, ..., in folders seed-N"
    parser.add_argument("--seeds", type=SEEDS, metavar="N", help=f"{seeds} ({SEEDS.span()})")
    add_setting(parser, Config, "runtime", "device")
    parser.add_argument(
        "--no-amp", dest="runtime.amp", action="store_false", default=None, help="use float32, not mixed precision"
    )
    compile_help = f"torch.compile mode: {' or '.join(COMPILE_MODES)} (default: not compiled)"
    parser.add_argument(
        "--compile-mode", dest="runtime.compile_mode", type=OneOf(COMPILE_MODES), metavar="NAME", help=compile_help
    )
    parser.add_argument("-d", "--dashboard", action="store_true", help="serve a live web page of the training")
    parser.add_argument("--wandb", action="store_true", help="report to W&B, in the project goodharts")
    parser.add_argument("--resume", action="store_true", help="resume from models/ppo_MODE.checkpoint.pth")
    add_price_flags(parser, lambda: WORLDS[DEFAULT_MODE])
    measured = f"measure the speed of --updates (default {BENCHMARK_UPDATES}), after two to warm up; save nothing"
    parser.add_argument("-b", "--benchmark", action="store_true", help=measured)
    return parser


def _train(arguments: argparse.Namespace) -> int:
    config = read_config(flags_given(arguments) | {"prices": _prices(arguments)})
    if arguments.seeds is not None and (arguments.benchmark or arguments.dashboard or is_launched()):
        raise UsageError("--seeds does not go with --benchmark, --dashboard and torchrun: leave it out, or them.")
    if arguments.benchmark and arguments.resume:
        raise UsageError("--benchmark does not go with --resume: it measures a run from its start.")
    # models and checkpoints are torch's files, whichever engine trains
    if (config.training.engine != JAX or not arguments.benchmark) and find_spec("torch") is None:
        raise UsageError(f"goodharts train needs torch: run `{install_package('torch')}`.")
    is_first = rank() == 0
    console = open_console(quiet=not is_first)
    engine_of(config).check(config)  # before there are folders
    with contextlib.ExitStack() as stack:
        if is_first and not arguments.benchmark:
            for folder in folders_of(arguments, config):
                stack.enter_context(reserved(arguments.mode, folder))
        jobs = jobs_of(arguments, config)
        for job in (job for job in jobs if job.has_ended):
            print_line(console, ended_text(job))
        left = [job for job in jobs if not job.has_ended]
        for job in left:
            engine_of(job.config).check(job.config)
            is_new, is_one_of_several = not job.progress.updates, len(jobs) > 1 or arguments.seeds is not None
            if is_first and is_new and is_one_of_several and not arguments.benchmark:
                write_checkpoint(job)  # so that a run killed before its first checkpoint can be resumed, too
        at_once = max(len(arguments.mode), min(len(left), available_cores()))
        results = _run(left, at_once, console, arguments.dashboard and is_first)
    for each in results:
        for line in (each.sentence, *(f"  {file}" for file in each.files)):
            print_line(console, line)
    if arguments.seeds is not None:
        _sum_up(jobs, console)
    ends = zip(left, results, strict=True)
    if stopped := [job.mode for job, each in ends if each.outcome == "stopped" and each.files]:
        seeds = [] if arguments.seeds is None else [f"--seed={config.training.seed}", f"--seeds={arguments.seeds}"]
        words = [COMMAND, "--mode", ",".join(arguments.mode if seeds else stopped), *seeds, "--resume"]
        print_line(console, f"Resume: {typed_command('goodharts', MODULE, *words)}")
    if any(each.outcome == "failed" or not each.is_complete for each in results):
        return 1
    is_nothing_kept = not arguments.benchmark and is_first and not any(each.files for each in results)
    return INTERRUPTED_EXIT_CODE if is_nothing_kept else 0


def _prices(arguments: argparse.Namespace) -> dict[str, float]:
    """The prices that the command line gives; raises UsageError for one that a mode does not have."""
    prices = read_prices(arguments.price, arguments.prices)
    if prices and arguments.resume:
        raise UsageError("--price and --prices do not go with --resume: a run keeps its prices.")
    for mode in arguments.mode if prices else ():
        WORLDS[mode].with_prices(prices)
    return {name: float(Fraction(str(value))) for name, value in prices.items()}


def _sum_up(jobs: list[Job], console: Console) -> None:
    """Draw the runs of each mode, and print the command that compares their models."""
    from rlworldkit.runs.curve import draw_groups  # matplotlib takes a while to import

    by_mode = {each.mode: [job for job in jobs if job.mode == each.mode] for each in jobs}
    curves = {mode: [read_csv(job.folder / RUNS / job.name / METRICS) for job in of] for mode, of in by_mode.items()}
    if any(map(any, curves.values())):
        draw_groups(curves, Path(CURVE), "Goodharts")
        print_line(console, f"  {CURVE}")
    models = {mode: [str(job.model) for job in of if job.model.exists()] for mode, of in by_mode.items()}
    if groups := [f"--group={mode}={','.join(paths)}" for mode, paths in models.items() if paths]:
        print_line(console, f"Compare: {typed_command('goodharts', MODULE, 'compare', *groups)}")


def _run(jobs: list[Job], at_once: int, console: Console, with_dashboard: bool) -> list[RunResult]:
    """Train the jobs and show their progress; stop when a signal or the dashboard asks for it."""
    is_alone, port = len(jobs) == 1 or is_launched(), jobs[0].config.runtime.dashboard_port
    write_line = partial(print_line, console)
    totals = {job.label: job.total_timesteps for job in jobs}
    progress = ConsoleProgress(totals, console)
    stop = StopRequest(
        lambda: write_line("Stopping after this update; a second Ctrl-C ends it at once."),
        (lambda: print_nothing_to_save(console)) if is_alone else None,  # train_many ends runs with nothing to keep
    )
    page = LivePage(TITLE, totals, stop, port=port, actions=action_labels()) if with_dashboard else None
    lines = {job.label: max(job.config.training.updates // _LINES_PER_RUN, 1) for job in jobs}

    def report(metrics: Metrics, run: str) -> None:
        if console.is_terminal or metrics["update"] % lines[run] == 0 or metrics["timesteps"] == totals[run]:
            with contextlib.suppress(OSError):  # the terminal has gone
                progress.write(metrics, run)
        if page:
            page.write(metrics, run)

    def ended(label: str, found: Any) -> None:  # noqa: ANN401 - as train_many gives it
        if page:
            result = _result(label, found)
            page.finish(label, result.outcome, result.sentence)

    with page.opened(write_line) if page else contextlib.nullcontext(), stop, progress:
        if is_alone:
            how: dict[str, Any] = {"print_line": write_line, "stop": stop}
            return [_result(job.label, train_job(job, report=partial(report, run=job.label), **how)) for job in jobs]
        tasks = [RunTask(job.label, job.folder / RUNS / job.name, [MODULE, COMMAND], job) for job in jobs]
        many = train_many(
            tasks, at_once, report=report, print_line=write_line, ended=ended, should_stop=lambda: stop.requested
        )
        return [_result(job.label, found) for job, found in zip(jobs, many, strict=True)]


def _result(label: str, found: Any) -> RunResult:  # noqa: ANN401 - as train_many gives it
    if isinstance(found, Exception):
        return RunResult("failed", f"{label}: {found}")
    nothing = f"{label}: stopped before the first update was complete; nothing to keep."
    return found if isinstance(found, RunResult) else RunResult("stopped", nothing)


def action_labels() -> list[ActionLabel]:
    """Labels of the moves for the page of a run, each in its direction from the agent."""
    moves = zip(ACTIONS, _SIGNS, MOVES, strict=True)
    return [ActionLabel(name.replace("_", " "), sign, 2 + x, 2 + y) for name, sign, (x, y) in moves]


if __name__ == "__main__":
    sys.exit(main())

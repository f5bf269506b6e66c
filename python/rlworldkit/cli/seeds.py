"""``train --seeds`` and ``--variant``: the same training several times, in processes or in one compiled program.

A run is the command ``train --seed N`` in the folder ``seed-N`` of a group's folder. It gets its share of the cores,
and has the same results as a single run with as many cores.
"""

import argparse
import contextlib
import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from rlparity.errors import INTERRUPTED_EXIT_CODE, ParityError, UsageError
from rlparity.io.console import counted, open_console
from rlparity.io.table import Table
from rlworldkit.cli.group_plan import GroupPlan, plan_group
from rlworldkit.cli.runs import page_of
from rlworldkit.cli.train_plan import PROCESSES, VMAP, TrainOptions, job_of, parser_of_train
from rlworldkit.jax.xla import available_cores
from rlworldkit.ppo.params import trained_files
from rlworldkit.program import Program
from rlworldkit.runs.console import ConsoleProgress, print_line, print_nothing_to_save
from rlworldkit.runs.folder import CURVE, METRICS
from rlworldkit.runs.pool import RunTask, last_value, train_many
from rlworldkit.runs.run import TrainResult
from rlworldkit.runs.sinks import Metrics, read_csv
from rlworldkit.runs.stop import StopRequest
from rlworldkit.settings import from_flags

if TYPE_CHECKING:
    from rlworldkit.ppo.loop import TrainJob


def train_group(program: Program, argv: Sequence[str], arguments: argparse.Namespace, options: TrainOptions) -> int:
    """Train several runs, show progress and a summary; return 1 if one failed, 130 if stopped too early, else 0.

    argv: the words after ``train``. Raises UsageError for flags of a single run, and for a folder that cannot be used.
    """
    plan = plan_group(program, argv, arguments, options)
    folder, every = plan.folder, [task for of in plan.tasks.values() for task in of]
    left = [task for task in every if not plan.has_ended(task)]
    if not left:
        raise UsageError(f"The runs in {folder} are complete: raise --total-timesteps.")
    import jax  # imported here, so that a mistaken command line fails without waiting for it

    is_vmapped = (options.seeds_mode or (PROCESSES if jax.default_backend() == "cpu" else VMAP)) == VMAP
    console = open_console()
    at_once = len(left) if is_vmapped else min(len(left), available_cores())
    print_line(console, f"Training {counted(len(left), 'run')} in {folder}, {at_once} at a time.")
    stop = StopRequest(
        lambda: print_line(console, "Stopping all runs; a second Ctrl-C ends the command at once."),
        (lambda: print_nothing_to_save(console)) if is_vmapped else None,
    )
    totals = {task.name: plan.config.num_updates * plan.config.batch_size for task in left}
    with contextlib.ExitStack() as stack:
        pages = [page_of(program, totals, stop, partial(print_line, console))] if options.dashboard else []
        reports = [stack.enter_context(page).write for page in pages]
        stack.enter_context(stop)
        reports.append(stack.enter_context(ConsoleProgress(totals, console)).write)

        def report(metrics: Metrics, run: str) -> None:
            for each in reports:
                each(metrics, run)

        environment = {"WANDB_RUN_GROUP": folder.name}
        if is_vmapped:
            os.environ.update(environment)
            results = _train_vmapped(program, left, console, stop, report)
        else:
            should_stop = lambda: stop.requested  # noqa: E731
            results = train_many(left, at_once, report=report, should_stop=should_stop, environment=environment)
    by_name = dict(zip((task.name for task in left), results, strict=True))
    return _sum_up(program, plan, console, by_name, stop.requested)


def _train_vmapped(
    program: Program,
    tasks: Sequence[RunTask],
    console: Console,
    stop: StopRequest,
    write: Callable[[Metrics, str], None],
) -> list[Any]:
    """Train all runs in this process, with their updates in one program; results are like those of ``train_many``."""
    from rlworldkit.ppo.training import train_together

    def job(task: RunTask) -> "TrainJob | ParityError":
        arguments = parser_of_train(program).parse_args(task.words[2:])
        try:
            return job_of(
                program,
                arguments,
                from_flags(arguments, TrainOptions),
                console=Console(quiet=True),
                stop=stop,
                report=lambda metrics: write(metrics, task.name),
                print_line=lambda line: print_line(console, f"{task.name}: {line}"),
            )
        except ParityError as error:
            return error

    jobs = [job(task) for task in tasks]
    ready = [each for each in jobs if not isinstance(each, Exception)]
    results = iter(train_together(ready, console) if ready else ())
    return [each if isinstance(each, Exception) else next(results) for each in jobs]


def _sum_up(program: Program, plan: GroupPlan, console: Console, results: Mapping[str, Any], is_stopped: bool) -> int:
    """Print the outcomes of all runs and the next commands; return the exit code. results: of the runs trained now."""
    folder = plan.folder
    has_failed = any(isinstance(result, Exception) for result in results.values())
    rows, outcomes = dict[str, list[dict[str, float]]](), dict[str, str]()
    for task in (task for of in plan.tasks.values() for task in of):
        rows[task.name] = read_csv(task.folder / METRICS)
        outcomes[task.name] = _outcome(results.get(task.name), plan.has_ended(task))
    console.print(_table(plan.tasks, rows, outcomes))
    if not any(rows.values()):
        return 1 if has_failed else INTERRUPTED_EXIT_CODE
    from rlworldkit.runs.curve import draw_groups  # matplotlib takes a while to import

    curves = {name or program.world.title: [rows[task.name] for task in of] for name, of in plan.tasks.items()}
    draw_groups(curves, folder / CURVE, folder.name)
    print_line(console, f"  {folder / CURVE}")
    if is_stopped or has_failed:
        print_line(console, f"Resume: {plan.resume}")
    with_agents = [name for name, of in plan.tasks.items() if any(trained_files(each.folder) for each in of)]
    if with_agents and not is_stopped:
        groups = [f"--group={name or 'all'}={folder / name}" for name in with_agents]
        print_line(console, f"Compare: {program.typed('compare', *groups)}")
    return 1 if has_failed else 0


def _outcome(result: object, has_ended: bool) -> str:
    """Describe how a run ended, in a word or a sentence."""
    if isinstance(result, Exception):
        return f"failed: {result if isinstance(result, ParityError) else repr(result)}"
    if has_ended:
        return "finished"
    return "stopped" if isinstance(result, TrainResult) and result.has_trained else "not begun"


def _table(
    tasks: Mapping[str, Sequence[RunTask]],
    rows: Mapping[str, Sequence[Metrics]],
    outcomes: Mapping[str, str],
) -> Table:
    """Make the table of runs with their last returns, and the interquartile mean of each variant's returns."""
    from rlparity.io.intervals import FEWEST
    from rlworldkit.aggregate import interquartile_mean, with_interval
    from rlworldkit.evaluation.report import interval  # as in evaluate

    table = Table("run", "steps", "return", "", box=None)
    for name, of in tasks.items():
        runs = [task.name for task in of]
        returns = [last_value(rows[run], "train/mean_episode_return") for run in runs]
        for run, found in zip(runs, returns, strict=True):
            steps = f"{rows[run][-1]['timesteps']:,.0f}" if rows[run] else "–"
            table.add_row(run, steps, "–" if math.isnan(found) else f"{found:.2f}", outcomes[run])
        known = np.array([found for found in returns if not math.isnan(found)])
        if len(known) > 1:
            mean = interval(with_interval(interquartile_mean, known[:, None]))
            without = f", {lacking} without a return left out" if (lacking := len(returns) - len(known)) else ""
            few = f" (an interval needs {FEWEST})" if len(known) < FEWEST else ""
            table.add_row(name, "", mean, f"interquartile mean of {len(known)} runs{few}{without}")
    return table

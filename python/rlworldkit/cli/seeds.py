"""``train --seeds`` and ``--variant``: the same training several times, in processes or in one compiled program.

A run is the command ``train --seed N`` in the folder ``seed-N`` of a group's folder. It has its share of the cores, and
is the same as by itself with as many.
"""

import argparse
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from rlparity.errors import INTERRUPTED_EXIT_CODE, ParityError, UsageError
from rlparity.io.console import counted, open_console, typed_command
from rlparity.io.table import Table
from rlworldkit.cli.group_plan import plan_group
from rlworldkit.cli.train_plan import PROCESSES, VMAP, TrainOptions, parser_of_train, plan_of
from rlworldkit.game import Game
from rlworldkit.jax.xla import available_cores
from rlworldkit.ppo.params import trained_files
from rlworldkit.runs.console import ConsoleProgress, print_line, print_nothing_to_save
from rlworldkit.runs.folder import CURVE
from rlworldkit.runs.processes import TrainProcess, last_value, train_all
from rlworldkit.runs.sinks import Metrics
from rlworldkit.runs.stop import StopRequest
from rlworldkit.settings import from_flags

if TYPE_CHECKING:
    from rlworldkit.ppo.training import TrainJob


def train_group(game: Game, argv: Sequence[str], arguments: argparse.Namespace, options: TrainOptions) -> int:
    """Train several runs, show them and sum up; return 1 if one failed, 130 if stopped too early, else 0.

    argv: the words after ``train``. Raises UsageError for flags of a single run, and for a folder that cannot be used.
    """
    config, variants, folder, runs, resume = plan_group(game, argv, arguments, options)
    left = [run for run in runs if run.outcome is None]
    if not left:
        raise UsageError(f"The runs in {folder} have had all their steps: ask for more with --total-timesteps.")
    import jax  # here: a mistaken command line should not have to wait for it

    is_vmapped = (options.seeds_mode or (PROCESSES if jax.default_backend() == "cpu" else VMAP)) == VMAP
    console = open_console()
    at_once = len(left) if is_vmapped else min(len(left), available_cores())
    print_line(console, f"Training {counted(len(left), 'run')} in {folder}, {at_once} at a time.")
    stop = StopRequest(
        lambda: print_line(console, "Stopping all runs; a second Ctrl-C ends the command at once."),
        (lambda: print_nothing_to_save(console)) if is_vmapped else None,
    )
    totals = {run.name: config.num_updates * config.batch_size for run in left}
    with stop, ConsoleProgress(totals, console) as progress:
        environment = {"WANDB_RUN_GROUP": folder.name}
        if is_vmapped:
            os.environ.update(environment)
            _train_vmapped(game, left, console, stop, progress.write)
        else:
            should_stop = lambda: stop.requested  # noqa: E731
            train_all(game.module, left, at_once, environment, should_stop=should_stop, write=progress.write)
    by_variant = {each.name: [run for run in runs if run.folder.parent == folder / each.name] for each in variants}
    console.print(_table(by_variant))
    has_failed = any(run.has_failed for run in runs)
    if not any(run.rows for run in runs):
        return 1 if has_failed else INTERRUPTED_EXIT_CODE
    from rlworldkit.runs.curve import draw_groups  # matplotlib takes a while to import

    rows = {name or game.title: [run.rows for run in of_variant] for name, of_variant in by_variant.items()}
    draw_groups(rows, folder / CURVE, folder.name)
    print_line(console, f"  {folder / CURVE}")
    if stop.requested or has_failed:
        print_line(console, f"Resume: {resume}")
    with_agents = [name for name, of in by_variant.items() if any(trained_files(run.folder) for run in of)]
    if with_agents and not stop.requested:
        groups = [f"--group={name or 'all'}={folder / name}" for name in with_agents]
        print_line(console, f"Compare: {typed_command(game.name, game.module, 'compare', *groups)}")
    return 1 if has_failed else 0


def _train_vmapped(
    game: Game,
    runs: Sequence[TrainProcess],
    console: Console,
    stop: StopRequest,
    write: Callable[[Metrics, str], None],
) -> None:
    """Train all runs in this process, with their updates in one program."""
    from rlworldkit.ppo.training import train_together

    def job_of(run: TrainProcess) -> "TrainJob":
        arguments = parser_of_train(game).parse_args(run.words)
        return plan_of(game, arguments, from_flags(arguments, TrainOptions)).job(
            game,
            stopping="",
            console=Console(quiet=True),
            stop=stop,
            report=lambda metrics: write(metrics, run.name),
            print_line=lambda line: print_line(console, f"{run.name}: {line}"),
        )

    jobs: dict[TrainProcess, TrainJob] = {}
    for run in runs:
        try:
            jobs[run] = job_of(run)
        except ParityError as error:
            run.fail(str(error))
    results = train_together(list(jobs.values()), console) if jobs else []
    for run, result in zip(jobs, results, strict=True):
        list(run.new_rows())
        if isinstance(result, Exception):
            run.fail(str(result) if isinstance(result, ParityError) else repr(result))
        elif result.files:
            run.outcome = "stopped" if stop.requested else "finished"


def _table(by_variant: Mapping[str, Sequence[TrainProcess]]) -> Table:
    """Each run with its last return, and the interquartile mean of each variant's."""
    from rlparity.io.intervals import FEWEST
    from rlworldkit.aggregate import interquartile_mean, with_interval
    from rlworldkit.evaluation.report import interval  # as in evaluate

    table = Table("run", "steps", "return", "", box=None)
    for name, runs in by_variant.items():
        returns = [last_value(run.rows, "train/mean_episode_return") for run in runs]
        for run, found in zip(runs, returns, strict=True):
            steps = f"{run.rows[-1]['timesteps']:,.0f}" if run.rows else "–"
            table.add_row(run.name, steps, "–" if math.isnan(found) else f"{found:.2f}", run.outcome or "not begun")
        known = np.array([found for found in returns if not math.isnan(found)])
        if len(known) > 1:
            mean = interval(with_interval(interquartile_mean, known[:, None]))
            without = f", {lacking} without a return left out" if (lacking := len(returns) - len(known)) else ""
            few = f" (an interval needs {FEWEST})" if len(known) < FEWEST else ""
            table.add_row(name, "", mean, f"interquartile mean of {len(known)} runs{few}{without}")
    return table

"""``train --seeds`` and ``--variant``: the same training several times, in processes or in one compiled program.

A run is the command ``train --seed N`` in the folder ``seed-N`` of a group's folder. It has its share of the cores, and
is the same as by itself with as many.
"""

import argparse
import math
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console

from parity.arguments import SEED, FileName
from parity.console import counted, open_console, typed_command
from parity.errors import INTERRUPTED_EXIT_CODE, ParityError, UsageError
from parity.prices import read_prices
from parity.safe_read import quoted
from parity.table import Table
from rlworldkit.cli.train_plan import (
    PROCESSES,
    VMAP,
    TrainOptions,
    config_of,
    initial_of,
    parser_of_train,
    plan_of,
    without,
)
from rlworldkit.game import Game
from rlworldkit.jax.xla import available_cores
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.params import params_path, trained_files
from rlworldkit.runs.console import ConsoleProgress, print_line, print_nothing_to_save
from rlworldkit.runs.folder import CONFIG, CURVE, LATEST, fresh_run_name, make_folder
from rlworldkit.runs.lock import locked
from rlworldkit.runs.processes import TrainProcess, last_value, train_all
from rlworldkit.runs.saved_config import read_saved_config
from rlworldkit.runs.sinks import Metrics
from rlworldkit.runs.stop import StopRequest
from rlworldkit.settings import from_flags, saved_settings

if TYPE_CHECKING:
    from rlworldkit.ppo.training import TrainJob


class Variant(NamedTuple):
    """A name, and the prices that are not the game's own, such as ``kills=0.4``."""

    name: str = ""
    prices: Sequence[str] = ()


def _variant(word: str) -> Variant:
    name, equals, prices = word.partition("=")
    pairs = [price.partition(":") for price in prices.split(",")] if equals else []
    if FileName().fault(name) or not all(price and value for price, _, value in pairs):
        raise UsageError(f"--variant must be NAME or NAME=PRICE:VALUE,…, with a name for a folder, got {quoted(word)}.")
    return Variant(name, [f"{price}={value}" for price, _, value in pairs])


def runs_of(
    folder: Path, config: TrainConfig, number: int, variants: Sequence[Variant], flags: Sequence[str], is_resumed: bool
) -> list[TrainProcess]:
    """A number of seeds of each variant. flags: what all have in common. is_resumed: those with an agent go on."""

    def run_of(variant: Variant, seed: int) -> TrainProcess:
        own, parent = folder / variant.name / f"seed-{seed}", folder / variant.name
        words = [*flags, *(f"--price={price}" for price in variant.prices)]
        if is_resumed and trained_files(own):
            words = [*without(words, "init-from"), "--resume", LATEST, "--checkpoint-dir", str(own)]
        else:
            if is_resumed and own.exists():
                with locked(own):  # lest somebody trains into it
                    shutil.rmtree(own)  # killed before it saved: it begins anew
            words += ["--seed", str(seed), "--run-name", own.name, "--checkpoint-dir", str(parent)]
        return TrainProcess(f"{variant.name} {own.name}".strip(), words, params_path(own, config.num_updates))

    return [run_of(variant, config.seed + index) for variant in variants for index in range(number)]


def _group(
    game: Game, arguments: argparse.Namespace, options: TrainOptions
) -> tuple[TrainConfig, list[Variant], int, Path]:
    """The settings of the first run, the variants, the number of seeds, and the folder; raises as ``train_group``."""
    before: dict[str, Any] = {}
    for path in sorted(options.checkpoint_dir.rglob(CONFIG))[:1] if options.resume else ():
        before = saved_settings(game.train_config, read_saved_config(path.parent), path)
    config, number = config_of(game, arguments, options, before), options.seeds or 1
    variants = [*map(_variant, arguments.variant)] or [Variant()]
    if len({variant.name for variant in variants}) < len(variants):
        raise UsageError(f"each variant needs a name of its own, got {', '.join(each.name for each in variants)}.")
    for variant in variants:
        game.with_prices(read_prices(variant.prices, None)).env()
    for flag, value in (("--run-suffix", options.run_suffix), ("--distributed", options.distributed)):
        if value:
            raise UsageError(f"{flag} does not go with --seeds and --variant: leave it out.")
    if options.resume not in (None, LATEST):
        raise UsageError(f"--seeds resumes all of its runs: give --resume {LATEST} and the group's --checkpoint-dir.")
    pattern = "*/seed-*" if arguments.variant else "seed-*"
    if options.resume and not any(options.checkpoint_dir.glob(pattern)):
        place = options.checkpoint_dir / pattern
        raise UsageError(f"There is no run of a group at {place}: give its --variant words and --checkpoint-dir.")
    last = config.seed + number - 1
    if fault := SEED.fault(last):
        raise UsageError(f"the last seed {fault}, got {last}: give a lower --seed or fewer --seeds.")
    name = options.run_name or f"{fresh_run_name(game.name, config.seed)}-to-{last}"
    return config, variants, number, options.checkpoint_dir / ("" if options.resume else name)


def train_group(game: Game, argv: Sequence[str], arguments: argparse.Namespace, options: TrainOptions) -> int:
    """Train several runs, show them and sum up; return 1 if one failed, 130 if stopped too early, else 0.

    argv: the words after ``train``. Raises UsageError for flags of a single run, and for a folder that cannot be used.
    """
    config, variants, number, folder = _group(game, arguments, options)
    flags = without(argv, "seed", "seeds", "run-name", "checkpoint-dir", "resume")
    group = [f"--seed={config.seed}", f"--seeds={number}", "--resume", LATEST, f"--checkpoint-dir={folder}"]
    resume = typed_command(game.name, game.module, "train", *flags, *group)  # runs that had not begun need all flags
    initial_of(game, options, config)  # raises before any run begins
    make_folder(folder, "choose another --checkpoint-dir")
    runs = runs_of(folder, config, number, variants, without(flags, "variant", "seeds-mode"), bool(options.resume))
    if not options.resume and any(trained_files(run.folder) for run in runs):
        raise UsageError(f"{folder} already holds runs: choose another --run-name, or {resume}")
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
    from parity.intervals import FEWEST
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

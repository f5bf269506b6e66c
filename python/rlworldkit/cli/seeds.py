"""``train --seeds`` and ``--variant``: the same training several times, in processes or in one compiled program.

A run is the command ``train --seed N`` in the folder ``seed-N`` of a group's folder. It has its share of the cores, and
is the same as by itself with as many.
"""

import argparse
import math
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from parity.console import counted, open_console, typed_command
from parity.errors import INTERRUPTED_EXIT_CODE, ParityError, UsageError
from parity.table import Table
from rlworldkit.cli.runs import run_of
from rlworldkit.cli.train_plan import PROCESSES, TRAINER, VMAP, TrainOptions, Variant, parser_of_train, plan_of
from rlworldkit.game import Game
from rlworldkit.jax.xla import available_cores
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.params import params_path, trained_files
from rlworldkit.runs.console import ConsoleProgress, print_line, print_nothing_to_save
from rlworldkit.runs.folder import CURVE, LATEST, make_folder
from rlworldkit.runs.lock import locked
from rlworldkit.runs.processes import TrainProcess, last_value, train_all
from rlworldkit.runs.sinks import Metrics
from rlworldkit.runs.stop import StopRequest
from rlworldkit.settings import from_flags

if TYPE_CHECKING:
    from rlworldkit.ppo.training import TrainJob

_RETURN = "train/mean_episode_return"


@dataclass(frozen=True)
class Group:
    """What is trained. folder: of the group. seeds: of its runs. variants: none where the runs differ by seed alone."""

    folder: Path
    seeds: range
    variants: Sequence[Variant]
    is_resumed: bool

    def runs(self, flags: Sequence[str]) -> dict[str, list[TrainProcess]]:
        """The runs by variant; ``flags``: those that all have in common."""
        return {
            variant.name: [
                self._run(variant.name, seed, [*flags, *(f"--price={price}" for price in variant.prices)])
                for seed in self.seeds
            ]
            for variant in self.variants or [Variant()]
        }

    def _run(self, variant: str, seed: int, flags: list[str]) -> TrainProcess:
        parent = self.folder / variant
        folder = parent / f"seed-{seed}"
        if self.is_resumed and trained_files(folder):
            words = [*_without(flags, "init-from"), "--resume", LATEST, "--checkpoint-dir", str(folder)]
        else:
            if self.is_resumed and folder.exists():
                with locked(folder):  # lest somebody trains into it
                    shutil.rmtree(folder)  # killed before it saved: it begins anew
            words = [*flags, "--seed", str(seed), "--run-name", folder.name, "--checkpoint-dir", str(parent)]
        return TrainProcess(f"{variant} {folder.name}".strip(), folder, words)


def main(game: Game, argv: Sequence[str], config: TrainConfig, group: Group, mode: str | None) -> int:
    """Train, show and sum up; return 1 if a run failed, 130 if all were stopped before there was anything, else 0.

    argv: the words after ``train``. config: that of the first run. mode: None is the one that suits the device. Raises
    UsageError where the folder cannot be used.
    """
    flags = _without(argv, "seed", "seeds", "variant", "run-name", "checkpoint-dir", "resume")
    by_variant = group.runs(flags)
    runs = [run for of_variant in by_variant.values() for run in of_variant]
    resume = _resume(game, group, flags)
    if not group.is_resumed and any(trained_files(run.folder) for run in runs):
        raise UsageError(f"{group.folder} already holds runs: choose another --run-name, or {resume}")
    for run in runs:
        if params_path(run.folder, config.num_updates).exists():
            list(run.new_rows())
            run.outcome = "finished"
    left = [run for run in runs if run.outcome is None]
    if not left:
        raise UsageError(f"The runs in {group.folder} have had all their steps: ask for more with --total-timesteps.")
    make_folder(group.folder, "choose another --checkpoint-dir")
    console = open_console()
    is_vmapped = (mode or _mode_of_device()) == VMAP
    at_once = len(left) if is_vmapped else min(len(left), available_cores())
    print_line(console, f"Training {counted(len(left), 'run')} in {group.folder}, {at_once} at a time.")
    stop = StopRequest(
        lambda: print_line(console, "Stopping all runs; a second Ctrl-C ends them at once."),
        (lambda: print_nothing_to_save(console)) if is_vmapped else None,
    )
    total = config.num_updates * config.batch_size
    with stop, ConsoleProgress({run.name: total for run in left}, console) as progress:
        environment = {"WANDB_RUN_GROUP": group.folder.name}
        if is_vmapped:
            os.environ.update(environment)
            _train_vmapped(game, left, console, stop, progress.write)
        else:
            should_stop = lambda: stop.requested  # noqa: E731
            train_all(game.module, left, at_once, environment, should_stop=should_stop, write=progress.write)
    console.print(_table(by_variant))
    has_rows = {name: [run.rows for run in of if run.rows] for name, of in by_variant.items()}
    if not any(has_rows.values()):
        return 1 if any(run.has_failed for run in runs) else INTERRUPTED_EXIT_CODE
    from rlworldkit.runs.curve import draw_groups  # matplotlib takes a while to import

    draw_groups({name or game.title: rows for name, rows in has_rows.items()}, group.folder / CURVE, group.folder.name)
    print_line(console, f"  {group.folder / CURVE}")
    if stop.requested:
        print_line(console, f"Resume: {resume}")
    else:
        folders = [f"--group={name or 'all'}={group.folder / name}" for name in by_variant]
        print_line(console, f"Compare: {typed_command(game.name, game.module, 'compare', *folders)}")
    return 1 if any(run.has_failed for run in runs) else 0


def _mode_of_device() -> str:
    import jax  # here: a mistaken command line should not have to wait for it

    return PROCESSES if jax.default_backend() == "cpu" else VMAP


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
        plan = plan_of(game, arguments, options := from_flags(arguments, TrainOptions))
        outputs = run_of(
            game,
            options,
            plan.folder,
            TRAINER,
            stopping="",
            upload=not options.no_artifact,
            rewind=options.rewind,
            console=Console(quiet=True),
            stop=stop,
            report=lambda metrics: write(metrics, run.name),
            print_line=lambda line: print_line(console, f"{run.name}: {line}"),
        )
        return plan.job(outputs)

    jobs: dict[TrainProcess, TrainJob] = {}
    for run in runs:
        try:
            jobs[run] = job_of(run)
        except ParityError as error:
            run.end(str(error), has_failed=True)
    results = train_together(list(jobs.values()), console) if jobs else []
    for run, result in zip(jobs, results, strict=True):
        list(run.new_rows())
        if isinstance(result, Exception):
            run.end(str(result) if isinstance(result, ParityError) else repr(result), has_failed=True)
        elif result.files:
            run.end("stopped" if stop.requested else "finished")


def _without(words: Sequence[str], *flags: str) -> list[str]:
    """The words of a command line without these flags and their values."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for flag in flags:
        parser.add_argument(f"--{flag}")
    return parser.parse_known_args(words)[1]


def _resume(game: Game, group: Group, flags: Sequence[str]) -> str:
    """The command that goes on with a group; runs that had not begun need its flags."""
    variants = (f"{name}={','.join(prices).replace('=', ':')}" if prices else name for name, prices in group.variants)
    runs = [f"--seed={group.seeds[0]}", f"--seeds={len(group.seeds)}", *(f"--variant={each}" for each in variants)]
    folder = f"--checkpoint-dir={group.folder}"
    return typed_command(game.name, game.module, "train", *flags, *runs, "--resume", LATEST, folder)


def _table(by_variant: Mapping[str, Sequence[TrainProcess]]) -> Table:
    """Each run with its last return, and the interquartile mean of each variant's."""
    from rlworldkit.aggregate import interquartile_mean, with_interval
    from rlworldkit.evaluation.report import interval  # as in evaluate

    table = Table("run", "steps", "return", "", box=None)
    for name, runs in by_variant.items():
        known = []
        for run in runs:
            found = last_value(run.rows, _RETURN)
            known += [] if math.isnan(found) else [found]
            steps = f"{run.rows[-1]['timesteps']:,.0f}" if run.rows else "–"
            table.add_row(run.name, steps, "–" if math.isnan(found) else f"{found:.2f}", run.outcome or "not begun")
        if len(known) > 1:
            mean = interval(with_interval(interquartile_mean, np.array(known)[:, None]))
            table.add_row(name, "", mean, f"interquartile mean of {len(known)} runs")
    return table

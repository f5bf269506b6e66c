"""``train --seeds`` and ``--variant``: the same training several times, each run in a process of its own.

A run is the command ``train --seed N`` in the folder ``seed-N`` of a group's folder. It has its share of the cores, and
is the same as by itself with as many.
"""

import argparse
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from parity.arguments import FileName, IntRange, Values
from parity.console import counted, open_console, typed_command
from parity.errors import INTERRUPTED_EXIT_CODE, UsageError
from parity.table import Table
from rlworldkit.game import Game
from rlworldkit.jax.xla import available_cores
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.params import params_path, trained_files
from rlworldkit.runs.console import ConsoleProgress, print_line
from rlworldkit.runs.folder import CURVE, LATEST, make_folder
from rlworldkit.runs.lock import locked
from rlworldkit.runs.processes import TrainProcess, last_value, train_all
from rlworldkit.runs.stop import StopRequest

SEEDS = IntRange(1, 10_000)
_RETURN = "train/mean_episode_return"


class Variant(NamedTuple):
    """A name, and the prices that are not the game's own, such as ``kills=0.4``."""

    name: str = ""
    prices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variants(Values):
    """``NAME=PRICE:VALUE,…``, or a name alone for the game's own prices."""

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        """Anything but a name and flags."""
        return None if isinstance(value, Variant) else f"must be {self.span()}"

    def span(self) -> str:
        """What it looks like."""
        return "NAME=PRICE:VALUE,…, or NAME alone for the game's own prices"

    def read(self, word: str) -> Variant:
        """The name, and a flag for each price."""
        name, equals, prices = word.partition("=")
        pairs = [price.partition(":") for price in prices.split(",")] if equals else []
        if FileName().fault(name) or not all(price and value for price, _, value in pairs):
            raise ValueError(word)
        return Variant(name, tuple(f"{price}={value}" for price, _, value in pairs))


VARIANT = Variants()


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


def main(game: Game, argv: Sequence[str], config: TrainConfig, group: Group) -> int:
    """Train, show and sum up; return 1 if a run failed, 130 if all were stopped before there was anything, else 0.

    argv: the words after ``train``. config: that of the first run. Raises UsageError where the folder cannot be used.
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
    at_once = min(len(left), available_cores())
    print_line(console, f"Training {counted(len(left), 'run')} in {group.folder}, {at_once} at a time.")
    stop = StopRequest(lambda: print_line(console, "Stopping all runs; a second Ctrl-C ends them at once."))
    total = config.num_updates * config.batch_size
    with stop, ConsoleProgress({run.name: total for run in left}, console) as progress:
        train_all(
            game.module,
            left,
            at_once,
            {"WANDB_RUN_GROUP": group.folder.name},
            should_stop=lambda: stop.requested,
            write=progress.write,
        )
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
        for run in runs:
            cells = (
                (f"{run.rows[-1]['timesteps']:,.0f}", f"{last_value(run.rows, _RETURN):.2f}")
                if run.rows
                else ("–", "–")
            )
            table.add_row(run.name, *cells, run.outcome or "not begun")
        known = [found for run in runs if not math.isnan(found := last_value(run.rows, _RETURN))]
        if len(known) > 1:
            mean = interval(with_interval(interquartile_mean, np.array(known)[:, None]))
            table.add_row(name, "", mean, f"interquartile mean of {len(known)} runs")
    return table

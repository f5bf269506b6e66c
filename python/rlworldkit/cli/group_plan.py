"""The group of runs that a command line asks for, or that one before it began."""

import argparse
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rlparity.core.prices import read_prices
from rlparity.errors import UsageError, quoted
from rlparity.io.arguments import SEED, FileName
from rlparity.io.console import typed_command
from rlworldkit.cli.train_plan import TrainOptions, config_of, initial_of, parser_of_train, without
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.params import params_path, trained_files
from rlworldkit.program import Program
from rlworldkit.runs.folder import LATEST, fresh_run_name, make_folder
from rlworldkit.runs.group import GROUP, Group, read_group
from rlworldkit.runs.lock import locked
from rlworldkit.runs.pool import RunTask
from rlworldkit.settings import from_flags


class Variant(NamedTuple):
    """A name, and the prices that are not the game's own, such as ``kills=0.4``."""

    name: str = ""
    prices: Sequence[str] = ()


class GroupPlan(NamedTuple):
    """What is to be trained. config: of the first run. resume: the command that goes on with the group."""

    config: TrainConfig
    variants: list[Variant]
    folder: Path
    tasks: list[RunTask]
    resume: str

    def has_ended(self, task: RunTask) -> bool:
        """Whether the run has had all of its updates."""
        return params_path(task.folder, self.config.num_updates).exists()


def plan_group(
    program: Program, argv: Sequence[str], arguments: argparse.Namespace, options: TrainOptions
) -> GroupPlan:
    """Read what a group is, and write it into the group's folder; raises UsageError where it cannot be trained."""
    flags = without(argv, "seed", "seeds", "run-name", "checkpoint-dir", "resume")
    words, before = without(flags, "variant", "seeds-mode"), dict[str, Any]()
    words = [word for word in words if word != "--dashboard"]
    if options.resume not in (None, LATEST):
        raise UsageError(f"--seeds resumes all of its runs: give --resume {LATEST} and the group's --checkpoint-dir.")
    if options.resume:
        group = _resumed(arguments, options, words)
        before, words = {"seed": group.seed}, [*group.words]
        arguments = parser_of_train(program).parse_args([*words, *argv])
        options = from_flags(arguments, TrainOptions)
    config = config_of(program, arguments, options, before)
    if not options.resume:
        group = Group(config.seed, options.seeds or 1, arguments.variant, words)
    variants = [*map(_variant, group.variants)] or [Variant()]
    _check(program, options, group, variants)
    initial_of(program, options, config)  # raises before any run begins
    name = options.run_name or f"{fresh_run_name(program.name, group.seed)}-to-{group.seed + group.seeds - 1}"
    folder = options.checkpoint_dir / ("" if options.resume else name)
    of_group = [f"--seed={group.seed}", f"--seeds={group.seeds}", "--resume", LATEST, f"--checkpoint-dir={folder}"]
    resume = typed_command(program.name, program.module, "train", *flags, *of_group)
    make_folder(folder, "choose another --checkpoint-dir")
    if not options.resume and any(map(trained_files, _folders_of_runs(folder))):
        raise UsageError(f"{folder} already holds runs: choose another --run-name, or {resume}")
    group.write(folder / GROUP)  # before any run begins: one that is killed at once is not forgotten
    seeds = range(group.seed, group.seed + group.seeds)
    tasks = tasks_of(program.module, folder, seeds, variants, words, is_resumed=bool(options.resume))
    return GroupPlan(config, variants, folder, tasks, resume)


def tasks_of(
    module: str,
    folder: Path,
    seeds: Iterable[int],
    variants: Sequence[Variant],
    flags: Sequence[str],
    *,
    is_resumed: bool,
) -> list[RunTask]:
    """The runs of these seeds of each variant.

    flags: what all have in common. is_resumed: those with an agent go on.
    """

    def task_of(variant: Variant, seed: int) -> RunTask:
        own, parent = folder / variant.name / f"seed-{seed}", folder / variant.name
        words = [*flags, *(f"--price={price}" for price in variant.prices)]
        if is_resumed and trained_files(own):
            words = [*without(words, "init-from"), "--resume", LATEST, "--checkpoint-dir", str(own)]
        else:
            if is_resumed and own.exists():
                with locked(own):  # lest somebody trains into it
                    shutil.rmtree(own)  # killed before it saved: it begins anew
            words += ["--seed", str(seed), "--run-name", own.name, "--checkpoint-dir", str(parent)]
        return RunTask(f"{variant.name} {own.name}".strip(), own, [module, "train", *words])

    return [task_of(variant, seed) for variant in variants for seed in seeds]


def _variant(word: str) -> Variant:
    name, equals, prices = word.partition("=")
    # earlier versions wrote PRICE:VALUE
    pairs = [price.partition("=" if "=" in price else ":") for price in prices.split(",")] if equals else []
    if FileName().fault(name) or not all(price and value for price, _, value in pairs):
        raise UsageError(f"--variant must be NAME or NAME=PRICE=VALUE,…, with a name for a folder, got {quoted(word)}.")
    return Variant(name, [f"{price}={value}" for price, _, value in pairs])


def _resumed(arguments: argparse.Namespace, options: TrainOptions, words: list[str]) -> Group:
    """The group in a folder with what the command line adds to it; raises UsageError where they do not fit."""
    path = options.checkpoint_dir / GROUP
    group = read_group(path)
    if arguments.seed not in (None, group.seed):
        raise UsageError(f"The runs of {path} are from seed {group.seed}, not {arguments.seed}: leave --seed out.")
    seeds = options.seeds or group.seeds
    if seeds < group.seeds:
        raise UsageError(f"The runs of {path} are from {group.seeds} seeds, not {seeds}: leave --seeds out.")
    if arguments.variant and not group.variants:
        raise UsageError(f"The runs of {path} are of no variant: leave --variant out.")
    before, variants = [*group.words], [*dict.fromkeys([*group.variants, *arguments.variant])]
    words = before if before[len(before) - len(words) :] == words else [*before, *words]
    return Group(group.seed, seeds, variants, words)


def _folders_of_runs(folder: Path) -> list[Path]:
    return [*folder.glob("seed-*"), *folder.glob("*/seed-*")]


def _check(program: Program, options: TrainOptions, group: Group, variants: Sequence[Variant]) -> None:
    """Raises UsageError for what cannot be trained as a group."""
    if len({variant.name for variant in variants}) < len(variants):
        raise UsageError(f"each variant needs a name of its own, got {', '.join(each.name for each in variants)}.")
    for variant in variants:
        program.world.with_prices(read_prices(variant.prices, None))
    for flag, value in (("--run-suffix", options.run_suffix), ("--distributed", options.distributed)):
        if value:
            raise UsageError(f"{flag} does not go with --seeds and --variant: leave it out.")
    last = group.seed + group.seeds - 1
    if fault := SEED.fault(last):
        raise UsageError(f"the last seed {fault}, got {last}: give a lower --seed or fewer --seeds.")

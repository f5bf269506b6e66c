"""Plan a group of runs: the one that a command line asks for, or an earlier one that it resumes."""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rlparity.core.prices import read_prices
from rlparity.errors import UsageError, quoted
from rlparity.io.arguments import SEED, SEEDS, FileName
from rlparity.io.atomic_write import write_text
from rlparity.io.safe_read import MIB, Unreadable, is_object, read_json, refused
from rlparity.io.strict_json import json_text
from rlworldkit.cli.train_plan import TrainOptions, config_of, initial_of, parser_of_train, without
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.params import params_path, trained_files
from rlworldkit.program import Program
from rlworldkit.runs.folder import LATEST, fresh_run_name, locked, make_folder
from rlworldkit.runs.pool import RunTask
from rlworldkit.settings import from_flags

GROUP = "group.json"
"""File that describes a group, written before any of its runs begins."""


class Group(NamedTuple):
    """Runs of each variant with ``seeds`` consecutive seeds from ``seed``.

    variants: values of ``--variant``. words: the arguments of ``train`` that all runs share.
    """

    seed: int
    seeds: int
    variants: Sequence[str]
    words: Sequence[str]

    def write(self, path: Path) -> None:
        """Write the group's file; raises UsageError if it cannot be written."""
        others = {"variants": [*self.variants], "words": [*self.words]}
        write_text(path, json_text({"seed": self.seed, "seeds": self.seeds, "others": others}, indent=2) + "\n")

    def tasks(self, module: str, folder: Path, *, is_resumed: bool) -> dict[str, list[RunTask]]:
        """Tasks of the runs by name of their variant, or ""; if ``is_resumed``, runs that have an agent are resumed.

        Raises UsageError for an invalid variant.
        """

        def task_of(name: str, prices: Sequence[str], seed: int) -> RunTask:
            own, parent = folder / name / f"seed-{seed}", folder / name
            words = [*self.words, *(f"--price={price}" for price in prices)]
            if is_resumed and trained_files(own):
                words = [*without(words, "init-from"), "--resume", LATEST, "--checkpoint-dir", str(own)]
            else:
                if is_resumed and own.exists():
                    with locked(own):  # fails if another process trains into it
                        shutil.rmtree(own)  # killed before its first save: it starts again
                words += ["--seed", str(seed), "--run-name", own.name, "--checkpoint-dir", str(parent)]
            return RunTask(f"{name} {own.name}".strip(), own, [module, "train", *words])

        seeds = range(self.seed, self.seed + self.seeds)
        variants = [_variant(word) for word in self.variants] or [("", [])]
        return {name: [task_of(name, prices, seed) for seed in seeds] for name, prices in variants}


class GroupPlan(NamedTuple):
    """Group of runs to train. config: that of the first run. tasks: by variant. resume: the command to resume it."""

    config: TrainConfig
    folder: Path
    tasks: dict[str, list[RunTask]]
    resume: str

    def has_ended(self, task: RunTask) -> bool:
        """Whether the run has done all of its updates."""
        return params_path(task.folder, self.config.num_updates).exists()


def plan_group(
    program: Program, argv: Sequence[str], arguments: argparse.Namespace, options: TrainOptions
) -> GroupPlan:
    """Plan a group, and write its file into its folder; raises UsageError if it cannot be trained."""
    flags = without(argv, "seed", "seeds", "run-name", "checkpoint-dir", "resume")
    words = [word for word in without(flags, "variant", "seeds-mode") if word != "--dashboard"]
    if options.resume not in (None, LATEST):
        raise UsageError(f"--seeds resumes all of its runs: give --resume {LATEST} and the group's --checkpoint-dir.")
    if is_resumed := options.resume is not None:
        group = _resumed(arguments, options, words)
        arguments = parser_of_train(program).parse_args([*group.words, *argv])
        options = from_flags(arguments, TrainOptions)
        config = config_of(program, arguments, options, {"seed": group.seed})
    else:
        config = config_of(program, arguments, options, {})
        group = Group(config.seed, options.seeds or 1, arguments.variant, words)
    _check(program, options, group)
    initial_of(program, options, config)  # raises before any run begins
    name = options.run_name or f"{fresh_run_name(program.name, group.seed)}-to-{group.seed + group.seeds - 1}"
    folder = options.checkpoint_dir / ("" if is_resumed else name)
    of_group = [f"--seed={group.seed}", f"--seeds={group.seeds}", "--resume", LATEST, f"--checkpoint-dir={folder}"]
    resume = program.typed("train", *flags, *of_group)
    make_folder(folder, "choose another --checkpoint-dir")
    if not is_resumed and any(map(trained_files, [*folder.glob("seed-*"), *folder.glob("*/seed-*")])):
        raise UsageError(f"{folder} already holds runs: choose another --run-name, or {resume}")
    group.write(folder / GROUP)  # before any run begins, so that a group killed at once can be resumed
    return GroupPlan(config, folder, group.tasks(program.module, folder, is_resumed=is_resumed), resume)


def read_group(path: Path) -> Group:
    """Read the group that a file describes; raises UsageError if the file cannot be read."""
    with refused(
        path, "group of runs", "give --checkpoint-dir the folder of one", "restore it, or start another group"
    ):
        found = read_json(path, MIB)
        others = found.get("others") if is_object(found) else None
        if not (is_object(others) and all(_is_list_of_texts(others.get(name)) for name in ("variants", "words"))):
            raise Unreadable("it describes no group of `train`")
        for name, values in (("seed", SEED), ("seeds", SEEDS)):
            if fault := values.fault(found.get(name)):
                raise Unreadable(f"its {name} {fault}")
        return Group(found["seed"], found["seeds"], others["variants"], others["words"])


def _is_list_of_texts(value: Any) -> bool:  # noqa: ANN401 - of JSON
    return isinstance(value, list) and all(type(each) is str for each in value)


def _resumed(arguments: argparse.Namespace, options: TrainOptions, words: list[str]) -> Group:
    """Read the group in a folder and extend it by the command line; raises UsageError if they do not fit."""
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


def _variant(word: str) -> tuple[str, list[str]]:
    """Parse a value of ``--variant`` into its name and values of ``--price``."""
    name, equals, prices = word.partition("=")
    # earlier versions wrote PRICE:VALUE
    pairs = [price.partition("=" if "=" in price else ":") for price in prices.split(",")] if equals else []
    if FileName().fault(name) or not all(price and value for price, _, value in pairs):
        raise UsageError(f"--variant must be NAME or NAME=PRICE=VALUE,…, with a name for a folder, got {quoted(word)}.")
    return name, [f"{price}={value}" for price, _, value in pairs]


def _check(program: Program, options: TrainOptions, group: Group) -> None:
    """Raise UsageError if this cannot be trained as a group."""
    variants = [_variant(word) for word in group.variants]
    if len(dict(variants)) < len(variants):
        raise UsageError(f"each variant needs a name of its own, got {', '.join(name for name, _ in variants)}.")
    for _, prices in variants:
        program.world.with_prices(read_prices(prices, None))
    for flag, value in (("--run-suffix", options.run_suffix), ("--distributed", options.distributed)):
        if value:
            raise UsageError(f"{flag} does not go with --seeds and --variant: leave it out.")
    last = group.seed + group.seeds - 1
    if fault := SEED.fault(last):
        raise UsageError(f"the last seed {fault}, got {last}: give a lower --seed or fewer --seeds.")

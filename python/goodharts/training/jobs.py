"""The runs that a command line of ``goodharts train`` asks for, new ones and those that go on."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from goodharts.config import BENCHMARK_UPDATES, Config
from goodharts.training.checkpoints import checkpoint_path, read_checkpoint
from goodharts.training.runs import MODELS, WARM_UP_UPDATES, Job
from rlparity.errors import UsageError
from rlworldkit.runs.console import print_line
from rlworldkit.runs.group import Group, read_group

_SETTINGS = "settings"
"""What a group's file has beside its seeds: the settings of the first run."""


def groups_to_resume(arguments: argparse.Namespace, config: Config) -> tuple[dict[str, Group], Config]:
    """The groups that these modes belong to, where one was written, and the settings with the seed of the first run.

    Raises UsageError where a file cannot be read, or the command line asks for other seeds or for fewer.
    """
    groups = dict[str, Group]()
    for mode in arguments.mode if arguments.resume else ():
        path = _group_path(arguments, mode)
        if group := read_group(path):
            seed = getattr(arguments, "training.seed") if not groups else config.training.seed
            groups[mode] = group.extended(path, seed, arguments.seeds)
            config = config.over({"training": {"seed": group.seed}}, str(path))
    return groups, config


def write_groups(arguments: argparse.Namespace, jobs: Sequence[Job], groups: Mapping[str, Group]) -> None:
    """Write what the runs are before any begins, so that none is forgotten that is killed before its first checkpoint.

    groups: those that go on, with the seeds that they have now. A run by itself is no group.
    """
    first = {job.mode: job.config for job in reversed(jobs)}
    for mode, config in first.items() if len(first) > 1 or arguments.seeds is not None else ():
        if mode in groups or not arguments.resume:
            new = Group(config.training.seed, arguments.seeds or 1, {_SETTINGS: config.plain()})
            groups.get(mode, new).write(_group_path(arguments, mode))


def _group_path(arguments: argparse.Namespace, mode: str) -> Path:
    return Path(MODELS, f"ppo_{mode}.{'modes' if arguments.seeds is None else 'seeds'}.json")


def _settings_of(group: Group, path: Path, config: Config) -> Config:
    """The settings of a group's runs, with those of [runtime] and the seed of ``config``."""
    settings = group.others.get(_SETTINGS)
    if not isinstance(settings, Mapping):
        raise UsageError(f"{path} describes no group of `train`: restore it, or leave --resume out to begin anew.")
    kept = Config().over(settings, str(path)).over({"training": {"seed": config.training.seed}}, str(path))
    return dataclasses.replace(kept, runtime=config.runtime).validated()


def new_jobs(arguments: argparse.Namespace, config: Config) -> list[Job]:
    """Return a run of each mode from each seed, from its beginning."""
    updates = _updates(arguments, config)
    if arguments.benchmark:
        updates = WARM_UP_UPDATES + (updates or BENCHMARK_UPDATES)
    config = _with_updates(config, updates)
    kind = {"is_benchmark": arguments.benchmark, "is_on_wandb": arguments.wandb}
    return [
        Job(mode, of_seed, _fresh_name(mode), folder=folder, **kind)
        for folder, of_seed in places(arguments, config)
        for mode in arguments.mode
    ]


def _fresh_name(mode: str) -> str:
    return f"{mode}_{datetime.datetime.now():%Y%m%d-%H%M%S}"


def places(arguments: argparse.Namespace, config: Config) -> list[tuple[Path, Config]]:
    """The folder of each seed and its settings: without --seeds, the working directory."""
    if arguments.seeds is None:
        return [(Path(), config)]
    first = config.training.seed
    seeds = range(first, first + arguments.seeds)
    return [(Path(f"seed-{seed}"), config.over({"training": {"seed": seed}}, "--seeds")) for seed in seeds]


def jobs_to_resume(
    arguments: argparse.Namespace, config: Config, groups: Mapping[str, Group], console: Console
) -> list[Job]:
    """Return the runs of these modes, which go on with the settings they began with; [runtime] alone is that of now.

    A run of a group without a checkpoint begins anew, with the settings of its group. Raises UsageError where a
    checkpoint cannot be used, or where all runs have had their updates.
    """
    for key in ("n_envs", "seed", "learning_rate", "network"):
        if getattr(arguments, f"training.{key}") is not None and (key != "seed" or arguments.seeds is None):
            raise UsageError(f"--{key.replace('_', '-')} does not go with --resume: a run goes on as it began.")
    jobs, done = list[Job](), []
    runs = [(mode, folder, of_seed) for folder, of_seed in places(arguments, config) for mode in arguments.mode]
    for mode, folder, config in runs:
        path = checkpoint_path(mode, folder / MODELS)
        if mode in groups and not path.exists():
            kept = _settings_of(groups[mode], _group_path(arguments, mode), config)
            kept = _with_updates(kept, _updates(arguments, kept))
            jobs.append(Job(mode, kept, _fresh_name(mode), folder=folder, is_on_wandb=arguments.wandb))
            continue
        start = read_checkpoint(path)
        kept = dataclasses.replace(start.config, runtime=config.runtime)
        began, asked = kept.training.engine, getattr(arguments, "training.engine")
        if asked not in (None, began):
            raise UsageError(f"{start.path} was left by --engine {began}: go on with that, or begin anew with {asked}.")
        updates = _updates(arguments, kept)
        if ignored := _ignored(config, kept, updates is not None):
            console.print(
                f"{start.path} goes on as it began: {', '.join(ignored)} of config.toml or the environment "
                f"{'has' if len(ignored) == 1 else 'have'} no effect.",
                soft_wrap=True,
            )
        kept = _with_updates(kept, updates)
        jobs.append(Job(start.mode, kept, start.name, start, folder=folder, is_on_wandb=arguments.wandb))
        if jobs[-1].has_ended:
            done.append(f"{start.path} has had its {start.update:,} updates: ask for more with --updates.")
    if len(done) == len(jobs):
        raise UsageError(done[0])
    for line in done:
        print_line(console, line)
    return jobs


def _ignored(config: Config, kept: Config, asks_for_updates: bool) -> list[str]:
    """The settings of now that somebody has given and that a run which began with others does not take."""
    now, began, defaults = map(dataclasses.asdict, (config, kept, Config()))
    return [
        f"{section}.{key}"
        for section in ("training", "world", "handhold", "prices")
        for key, value in now[section].items()
        if value not in (began[section][key], defaults[section][key]) and not (asks_for_updates and key == "updates")
    ]


def _updates(arguments: argparse.Namespace, config: Config) -> int | None:
    """The updates that the command line asks for; raises UsageError for fewer steps than those of one."""
    steps, training = arguments.timesteps, config.training
    if steps is None:
        updates: int | None = getattr(arguments, "training.updates")
        return updates
    if steps < config.batch_size:
        raise UsageError(
            f"--timesteps must cover at least one update of {training.n_envs:,} x {training.steps_per_env:,} = "
            f"{config.batch_size:,} steps, got {steps:,}."
        )
    return int(steps) // config.batch_size


def _with_updates(config: Config, updates: int | None) -> Config:
    return config.over({"training": {"updates": updates}}, "The command line") if updates else config

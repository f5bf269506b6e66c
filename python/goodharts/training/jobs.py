"""The runs that a command line of ``goodharts train`` asks for, new ones and those that go on."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from goodharts.config import BENCHMARK_UPDATES, Config
from goodharts.models import model_path
from goodharts.training.checkpoints import SETTINGS, Checkpoint, checkpoint_path, read_checkpoint, write_checkpoint
from rlparity.errors import UsageError
from rlworldkit.runs.console import print_line
from rlworldkit.runs.result import Progress
from rlworldkit.runs.saved_config import PRICES

MODELS, LOGS, RUNS = "models", "logs", "runs"
"""Folders in the working directory, or in that of a seed."""
WARM_UP_UPDATES = 2
"""Updates of a benchmark that come before the measured ones: they compile, and record what was compiled."""
_KEPT = {"--num-envs": "n_envs", "--seed": "seed", "--lr": "learning_rate", "--network": "network"}
"""Flags of settings that a resumed run keeps."""


@dataclass(frozen=True)
class Job:
    """The task of one mode's run.

    config: the settings. name: of its logs. start: where it goes on from. is_benchmark: measure, and write nothing.
    folder: where its outputs go. is_on_wandb: show it on W&B.
    """

    mode: str
    config: Config
    name: str
    start: Checkpoint | None = None
    is_benchmark: bool = False
    folder: Path = Path()
    is_on_wandb: bool = False

    @property
    def since(self) -> Progress:
        """The progress that it goes on from."""
        return self.start.progress if self.start else Progress()

    @property
    def has_ended(self) -> bool:
        """Whether it has had all of its updates before it starts."""
        return self.since.updates >= self.config.training.updates

    @property
    def label(self) -> str:
        """What it is called among others: its mode, and its folder where it has one."""
        return f"{self.mode} {self.folder}" if self.folder != Path() else self.mode

    @property
    def model(self) -> Path:
        """Where its agent goes."""
        return model_path(self.mode, self.folder / MODELS)

    @property
    def checkpoint(self) -> Path:
        """Where its checkpoint goes."""
        return checkpoint_path(self.mode, self.folder / MODELS)

    def notes(self) -> dict[str, Any]:
        """What a run's settings keep of it."""
        return {"mode": self.mode, SETTINGS: self.config.plain(), PRICES: self.config.changed_prices(self.mode)}

    @property
    def total_timesteps(self) -> int:
        """The steps of all its updates."""
        return self.config.training.updates * self.config.batch_size


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


def write_beginnings(jobs: Sequence[Job]) -> None:
    """Write what the new runs of a group are, so that none is forgotten that is killed before its first checkpoint."""
    for job in jobs:
        if job.start is None:
            write_checkpoint(Checkpoint(job.checkpoint, job.mode, job.name, job.config, Progress()))


def _fresh_name(mode: str) -> str:
    return f"{mode}_{datetime.datetime.now():%Y%m%d-%H%M%S}"


def places(arguments: argparse.Namespace, config: Config) -> list[tuple[Path, Config]]:
    """The folder of each seed and its settings: without --seeds, the working directory.

    Runs that are resumed know their first seed. Raises UsageError where the command line asks for other seeds.
    """
    if arguments.seeds is None:
        return [(Path(), config)]
    first = config.training.seed
    if there := _seeds_of(arguments.mode) if arguments.resume else []:
        given = getattr(arguments, "training.seed")
        if given not in (None, there[0]):
            raise UsageError(f"The runs of {', '.join(arguments.mode)} are from seed {there[0]}, not {given}: leave "
                             "--seed out.")  # fmt: skip
        if arguments.seeds < len(there):
            raise UsageError(f"The runs of {', '.join(arguments.mode)} are from {len(there)} seeds, not "
                             f"{arguments.seeds}: give --seeds {len(there)}.")  # fmt: skip
        first = there[0]
    seeds = range(first, first + arguments.seeds)
    return [(Path(f"seed-{seed}"), config.over({"training": {"seed": seed}}, "--seeds")) for seed in seeds]


def _seeds_of(modes: Sequence[str]) -> list[int]:
    """The seeds from which there are runs of these modes, ascending."""
    paths = [path for mode in modes for path in Path().glob(f"seed-*/{MODELS}/ppo_{mode}.*")]
    names = {path.parts[0].removeprefix("seed-") for path in paths}
    return sorted(int(name) for name in names if name.isdecimal())


def jobs_to_resume(arguments: argparse.Namespace, config: Config, console: Console) -> list[Job]:
    """Return the runs of these modes, which go on with the settings they began with; [runtime] alone is that of now.

    A seed without a checkpoint begins anew, with the settings of those beside it. Raises UsageError where a checkpoint
    cannot be used, or where all runs have had their updates.
    """
    for flag, key in _KEPT.items():
        if getattr(arguments, f"training.{key}") is not None and (key != "seed" or arguments.seeds is None):
            raise UsageError(f"{flag} does not go with --resume: a run goes on as it began.")
    jobs, done = list[Job](), []
    of_seeds = places(arguments, config)
    for folder, mode in ((folder, mode) for folder, _ in of_seeds for mode in arguments.mode):
        job = _resumed(arguments, config, mode, folder, [folder for folder, _ in of_seeds], console)
        jobs.append(job)
        if job.has_ended and job.start:
            done.append(f"{job.start.path} has had its {job.since.updates:,} updates: ask for more with --updates.")
    if len(done) == len(jobs):
        raise UsageError(done[0])
    for line in done:
        print_line(console, line)
    return jobs


def _resumed(
    arguments: argparse.Namespace, config: Config, mode: str, folder: Path, folders: Sequence[Path], console: Console
) -> Job:
    paths = [checkpoint_path(mode, each / MODELS) for each in (folder, *folders)]
    path = next(filter(Path.exists, paths), paths[0])
    start = read_checkpoint(path)
    kept = dataclasses.replace(start.config, runtime=config.runtime)
    if path != paths[0]:
        start = start._replace(name=_fresh_name(mode), progress=Progress())
        kept = kept.over({"training": {"seed": int(folder.name.removeprefix("seed-"))}}, "--seeds")
    began, asked = kept.training.engine, getattr(arguments, "training.engine")
    if asked not in (None, began):
        raise UsageError(f"{path} was left by --engine {began}: go on with that, or begin anew with {asked}.")
    updates = _updates(arguments, kept)
    if ignored := _ignored(config, kept, updates is not None):
        have = "has" if len(ignored) == 1 else "have"
        print_line(
            console,
            f"{path} goes on as it began: {', '.join(ignored)} of config.toml or the environment {have} no effect.",
        )
    has_begun = start.progress.updates > 0
    kept = _with_updates(kept, updates)
    return Job(mode, kept, start.name, start if has_begun else None, folder=folder, is_on_wandb=arguments.wandb)


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
            f"--total-timesteps must cover at least one update of {training.n_envs:,} x {training.steps_per_env:,} = "
            f"{config.batch_size:,} steps, got {steps:,}."
        )
    return int(steps) // config.batch_size


def _with_updates(config: Config, updates: int | None) -> Config:
    return config.over({"training": {"updates": updates}}, "The command line") if updates else config

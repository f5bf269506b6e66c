"""The runs that a command line of ``goodharts train`` asks for, new ones and those that go on."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodharts.config import BENCHMARK_UPDATES, Config
from goodharts.models import model_path
from goodharts.training.checkpoints import SETTINGS, Checkpoint, checkpoint_path, read_checkpoint
from rlparity.errors import UsageError
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

    def log(self, what: str) -> Path:
        """Where one of its logs goes."""
        return self.folder / LOGS / f"{self.name}_{what}"

    def notes(self) -> dict[str, Any]:
        """What a run's settings keep of it."""
        return {"mode": self.mode, SETTINGS: self.config.plain(), PRICES: self.config.changed_prices(self.mode)}

    @property
    def total_timesteps(self) -> int:
        """The steps of all its updates."""
        return self.config.training.updates * self.config.batch_size


def folders_of(arguments: argparse.Namespace, config: Config) -> Mapping[Path, Config]:
    """The folder of each seed and its settings: without --seeds, the working directory."""
    if arguments.seeds is None:
        return {Path(): config}
    seeds = range(config.training.seed, config.training.seed + arguments.seeds)
    return {Path(f"seed-{seed}"): config.over({"training": {"seed": seed}}, "--seeds") for seed in seeds}


def jobs_of(arguments: argparse.Namespace, config: Config) -> list[Job]:
    """Return the run of each mode in each folder, from its beginning or, with --resume, from its checkpoint.

    Raises UsageError where a checkpoint cannot be used, or where all runs have had their updates.
    """
    for flag, key in _KEPT.items() if arguments.resume else ():
        if getattr(arguments, f"training.{key}") is not None and (key != "seed" or arguments.seeds is None):
            raise UsageError(f"{flag} does not go with --resume: a run goes on as it began.")
    jobs = [
        _job(arguments, mode, folder, of_seed)
        for folder, of_seed in folders_of(arguments, config).items()
        for mode in arguments.mode
    ]
    if all(job.has_ended for job in jobs):
        raise UsageError(ended_text(jobs[0]))
    return jobs


def ended_text(job: Job) -> str:
    """What to do about a run that has had all of its updates."""
    return f"{job.checkpoint} has had its {job.since.updates:,} updates: ask for more with --updates."


def _job(arguments: argparse.Namespace, mode: str, folder: Path, config: Config) -> Job:
    name, start = f"{mode}_{datetime.datetime.now():%Y%m%d-%H%M%S}", None
    if arguments.resume:
        start = read_checkpoint(checkpoint_path(mode, folder / MODELS))
        began, asked = start.config.training.engine, getattr(arguments, "training.engine")
        if asked not in (None, began):
            raise UsageError(f"{start.path} was left by --engine {began}: go on with that, or begin anew with {asked}.")
        # [runtime] alone is that of now
        name, config = start.name, dataclasses.replace(start.config, runtime=config.runtime)
        start = start if start.progress.updates else None
    updates = _updates(arguments, config)
    config = config.over({"training": {"updates": updates}}, "The command line") if updates else config
    return Job(mode, config, name, start, arguments.benchmark, folder, arguments.wandb)


def _updates(arguments: argparse.Namespace, config: Config) -> int | None:
    """The updates that the command line asks for; raises UsageError for fewer steps than those of one."""
    updates: int | None = getattr(arguments, "training.updates")
    if (steps := arguments.timesteps) is not None:
        if steps < config.batch_size:
            raise UsageError(
                f"--total-timesteps must cover at least one update of {config.training.n_envs:,} x "
                f"{config.training.steps_per_env:,} = {config.batch_size:,} steps, got {steps:,}."
            )
        updates = steps // config.batch_size
    return WARM_UP_UPDATES + (updates or BENCHMARK_UPDATES) if arguments.benchmark else updates

"""Runs that a command line of ``goodharts train`` asks for: new runs, and runs resumed from checkpoints.

Checkpoints of both engines are ``models/ppo_{mode}.checkpoint.pth``, in rlworldkit's format.
"""

import argparse
import dataclasses
import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goodharts.config import BENCHMARK_UPDATES, JAX, Config, mode_of, model_path
from goodharts.rules import VERSION
from rlparity.errors import UsageError, quoted
from rlparity.io.arguments import FileName
from rlparity.io.atomic_write import write_whole
from rlparity.io.safe_read import Unreadable, is_object, refused
from rlworldkit.ppo.checkpoint_format import pack, part, read_payload, rules_version_of, runner_of
from rlworldkit.runs.folder import PRICES
from rlworldkit.runs.run import Progress

MODELS, LOGS, RUNS = "models", "logs", "runs"
"""Folders in the working directory, or in the folder of a seed."""
WARM_UP_UPDATES = 2
"""Updates of a benchmark before the measured ones: they compile, and record the compiled programs."""
BEGIN_ANEW = "leave --resume out to begin anew"
SETTINGS = "goodharts"
"""Key of a run's settings under which those of ``Config`` are saved."""
_NAMES = {"mode", "run_name", SETTINGS}
_KEPT = {"--num-envs": "n_envs", "--seed": "seed", "--lr": "learning_rate", "--network": "network"}
"""Flags of settings that a resumed run keeps."""


@dataclass(frozen=True)
class Job:
    """Description of a run of one mode, from its beginning or from a checkpoint between two updates.

    config: the settings. name: of its logs. folder: of its outputs. progress: how far it is. arrays: the arrays of the
    checkpoint by name, with ``--engine torch``. state: rlworldkit's ``Checkpoint``, with ``--engine jax``.
    is_benchmark: measure, and write nothing. is_on_wandb: show it on W&B.
    """

    mode: str
    config: Config
    name: str
    folder: Path = Path()
    progress: Progress = dataclasses.field(default_factory=Progress)
    arrays: Mapping[str, NDArray[Any]] = dataclasses.field(default_factory=dict)
    state: Any = None
    is_benchmark: bool = False
    is_on_wandb: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether all of its updates are done before it starts."""
        return self.progress.updates >= self.config.training.updates

    @property
    def label(self) -> str:
        """Name of the run among others: its mode, and its folder where it has one."""
        return f"{self.mode} {self.folder}" if self.folder != Path() else self.mode

    @property
    def model(self) -> Path:
        """Path of its agent."""
        return model_path(self.mode, self.folder / MODELS)

    @property
    def checkpoint(self) -> Path:
        """Path of its checkpoint."""
        return self.model.with_suffix(".checkpoint.pth")

    def log(self, what: str) -> Path:
        """Path of one of its logs."""
        return self.folder / LOGS / f"{self.name}_{what}"

    def notes(self) -> dict[str, Any]:
        """Entries of this job in the saved settings of its run."""
        return {"mode": self.mode, SETTINGS: self.config.plain(), PRICES: self.config.changed_prices(self.mode)}

    @property
    def total_timesteps(self) -> int:
        """Number of steps of all its updates."""
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
            raise UsageError(f"{flag} does not go with --resume: a run keeps its settings.")
    jobs = [
        _job(arguments, mode, folder, of_seed)
        for folder, of_seed in folders_of(arguments, config).items()
        for mode in arguments.mode
    ]
    if all(job.has_ended for job in jobs):
        raise UsageError(ended_text(jobs[0]))
    return jobs


def ended_text(job: Job) -> str:
    """Message for a run whose updates are all done: how to train it further."""
    return f"{job.checkpoint} is complete with {job.progress.updates:,} updates: raise --updates."


def _job(arguments: argparse.Namespace, mode: str, folder: Path, config: Config) -> Job:
    job = Job(mode, config, f"{mode}_{datetime.datetime.now():%Y%m%d-%H%M%S}", folder)
    if arguments.resume:
        job = read_checkpoint(job.checkpoint)
        began, asked = job.config.training.engine, getattr(arguments, "training.engine")
        if asked not in (None, began):
            raise UsageError(
                f"{job.checkpoint} is of --engine {began}: resume with that engine, or begin anew with {asked}."
            )
        job = dataclasses.replace(job, config=dataclasses.replace(job.config, runtime=config.runtime))  # the new one
    updates = _updates(arguments, job.config)
    config = job.config.over({"training": {"updates": updates}}, "The command line") if updates else job.config
    return dataclasses.replace(job, config=config, is_benchmark=arguments.benchmark, is_on_wandb=arguments.wandb)


def _updates(arguments: argparse.Namespace, config: Config) -> int | None:
    """The updates that the command line asks for; raises UsageError for fewer steps than one update has."""
    updates: int | None = getattr(arguments, "training.updates")
    if (steps := arguments.timesteps) is not None:
        if steps < config.batch_size:
            raise UsageError(
                f"--total-timesteps must cover at least one update of {config.training.n_envs:,} x "
                f"{config.training.steps_per_env:,} = {config.batch_size:,} steps, got {steps:,}."
            )
        updates = steps // config.batch_size
    return WARM_UP_UPDATES + (updates or BENCHMARK_UPDATES) if arguments.benchmark else updates


def write_checkpoint(job: Job) -> None:
    """Write the checkpoint of a run of ``--engine torch``, or of one that has not begun; raises OSError."""
    payload = {
        "runner": {name: np.asarray(array) for name, array in job.arrays.items()},
        "progress": job.progress._asdict(),
        "config": {"mode": job.mode, "run_name": job.name, SETTINGS: job.config.plain()},
        "rules_version": VERSION,
    }
    write_whole(job.checkpoint, pack(payload, f"goodharts-{job.mode}"))


def read_checkpoint(path: Path) -> Job:
    """Read the run of a checkpoint, ``FOLDER/models/ppo_MODE.checkpoint.pth``; a run of a group may not have begun.

    Raises UsageError with one sentence about whatever is wrong with the file.
    """
    with refused(path, "checkpoint", BEGIN_ANEW, BEGIN_ANEW):
        payload = read_payload(path, None)
        job = _begun(path, part(payload, "config"))
        if (version := rules_version_of(payload)) != VERSION:
            raise Unreadable(f"it is of version {version} of the rules, not {VERSION}")
        if not part(payload, "runner"):
            return job
        if job.config.training.engine != JAX:
            progress = Progress(**part(payload, "progress"))
            return dataclasses.replace(job, progress=progress, arrays=runner_of(payload))
    from goodharts.env import env_by
    from rlworldkit.ppo.checkpoints import read_checkpoint as read_in_jax

    state = read_in_jax(path, env_by(job.config, job.mode), BEGIN_ANEW)
    return dataclasses.replace(job, progress=state.progress, state=state)


def _begun(path: Path, kept: Any) -> Job:  # noqa: ANN401 - plain values
    """Make a run from the settings in a checkpoint; raises Unreadable, or UsageError for impossible settings."""
    if not is_object(kept) or not kept.keys() >= _NAMES or not is_object(kept[SETTINGS]):
        raise Unreadable("`goodharts train` did not write it")
    name = kept["run_name"]
    if FileName().fault(name):
        raise Unreadable(f"its name is {quoted(name)}, which no log can have")
    job = Job(mode_of(kept), Config().over(kept[SETTINGS], str(path)).validated(), name, path.parents[1])
    if job.checkpoint != path:
        raise Unreadable(f"it is of mode {job.mode}")
    return job

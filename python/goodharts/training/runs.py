"""A run of one mode from its start to its end, whichever engine trains it: its files and its result."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import goodharts
from goodharts.config import Config, EngineName
from goodharts.models import model_path, read_model
from goodharts.training.checkpoints import SETTINGS, checkpoint_path
from goodharts.training.jobs import LOGS, MODELS, RUNS, WARM_UP_UPDATES, Job
from goodharts.training.torchrun import rank
from rlparity.errors import ParityError, UsageError, is_out_of_memory
from rlparity.io.strict_json import json_text
from rlworldkit.runs.folder import CURVE, make_folder, move_aside
from rlworldkit.runs.lock import locked
from rlworldkit.runs.run import Run
from rlworldkit.runs.saved_config import BEGAN, PRICES, now
from rlworldkit.runs.sinks import CsvLog, Metrics
from rlworldkit.runs.stop import StopRequest
from rlworldkit.runs.wandb_run import Tracking

EPISODE = ("step", "game", "length", "reward", "food", "poison", "terminated")
"""The columns of finished episodes; step: of the rollout, from 0."""
_COMPILERS = ("torch._dynamo", "torch._inductor")
"""The modules whose errors are those of ``torch.compile``."""


class RunResult(NamedTuple):
    """Result of a run, by its label, with a sentence for the user; files: those it wrote."""

    label: str
    outcome: Literal["finished", "stopped", "failed"]
    sentence: str
    files: tuple[str, ...] = ()
    is_complete: bool = True

    @property
    def is_stopped(self) -> bool:
        """Whether it was stopped and can go on."""
        return self.outcome == "stopped" and bool(self.files)


class ModeRun:
    """The files of one run: ``models/ppo_{mode}.pth`` with its checkpoint, ``logs/{name}_*`` and ``runs/{name}/``.

    Use it as a context. Of the processes that ``torchrun`` started the first one writes and reports. A run that goes
    back, to a checkpoint that was put aside and put back, keeps its later agent and logs in ``models/abandoned-N/``. An
    engine hands metrics to ``run``, and episodes to ``write_episodes``.

    report: takes the metrics of each update. print_line: takes lines for the user. stop: asks for an early end.
    about: what an engine says of itself in ``_summary.json``: network, engine, device, precision, processes, versions.
    seconds, episodes, row: of this process's updates: each one's seconds, all episodes, and the last one's metrics.

    Raises UsageError where there is a log of this name that holds something else, or no room for that.
    """

    def __init__(
        self,
        job: Job,
        *,
        report: Callable[[Metrics], None] = lambda metrics: None,
        print_line: Callable[[str], None] = lambda line: None,
        stop: StopRequest | None = None,
    ) -> None:
        self.job, is_first = job, rank() == 0
        self.about = dict[str, Any]()
        self.seconds, self.episodes, self.row = list[float](), 0, dict[str, float]()
        self._report = report if is_first else lambda metrics: None
        self.model = model_path(job.mode, job.folder / MODELS)
        self.checkpoint = checkpoint_path(job.mode, job.folder / MODELS)
        logs, after = job.folder / LOGS, job.since.updates
        self._updates = CsvLog(logs / f"{job.name}_updates.csv", "update", after)
        self._episodes = CsvLog(logs / f"{job.name}_episodes.csv", "update", after)
        self._summary = logs / f"{job.name}_summary.json"
        self.run = Run(
            job.folder / RUNS / job.name if is_first and not job.is_benchmark else None,
            title=f"Goodharts, {job.mode}",
            tracking=Tracking("goodharts", upload=False) if job.is_on_wandb else None,
            stop=stop,
            report=self._take,
            print_line=print_line,
        )

    def __enter__(self) -> ModeRun:
        self.run.__enter__()
        after = self.job.since.updates
        if self.run.folder and after:
            updates = 0
            with contextlib.suppress(ParityError):  # no agent can be read
                updates = read_model(self.model).update
            if updates > after:
                records = (self.model, self._updates.path, self._episodes.path, self._summary)
                aside = move_aside(self.job.folder / MODELS, (), records)
                self.run.print_line(
                    f"This is a branch: the agent and the logs of later updates than {after:,} are in {aside}."
                )
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:  # noqa: ANN401 - of any context
        if self.run.folder and self.seconds:
            if kind is None:
                self.run.writer.write(self._summary, (json_text(self._summed_up(), indent=2) + "\n").encode())
            for log in (self._updates, self._episodes):
                self.run.writer.attempt(log.path, log.end if kind is None else log.flush)
        self.run.__exit__(kind, *error)

    @property
    def is_stopped(self) -> bool:
        """Return whether it ended before its updates were done."""
        return self.job.since.updates + len(self.seconds) < self.job.config.training.updates

    def notes(self) -> dict[str, Any]:
        """What the engines keep of the job among a run's settings."""
        config, mode = self.job.config, self.job.mode
        return {"mode": mode, SETTINGS: config.plain(), PRICES: config.changed_prices(mode)}

    def begin(self) -> None:
        """Open the run's files, for an engine that is not rlworldkit's trainer."""
        settings = {"run_name": self.job.name, BEGAN: now(), **self.notes()}
        after = self.job.since.updates
        self.run.begin(settings, self.job.total_timesteps, after=after, is_resumed=after > 0)

    def write_episodes(self, update: int, episodes: Iterable[Sequence[float]]) -> None:
        """Log the episodes that ended in an update, counted from 1, with the columns ``EPISODE``, in their order."""
        config, rows = self.job.config, list[Metrics]()
        for step, *values in sorted(episodes, key=lambda row: tuple(row[:2])):
            numbers = dict(zip(EPISODE[1:], values, strict=True))
            whole = {name: int(value) for name, value in numbers.items() if name != "reward"}
            timesteps = (update - 1) * config.batch_size + (int(step) + 1) * config.training.n_envs
            rows.append({"update": update, "timesteps": timesteps, **numbers, **whole})
        self.episodes += len(rows)
        if self.run.folder:
            self.run.writer.attempt(self._episodes.path, partial(self._episodes.write_all, rows))

    def ended(self) -> RunResult:
        """Return the result of the run, once its context is closed."""
        job = self.job
        if not self.seconds:
            return nothing_to_keep(job.label)
        seconds = self.seconds[WARM_UP_UPDATES:] if job.is_benchmark else self.seconds[1:] or self.seconds
        if not seconds:
            return RunResult(job.label, "stopped", f"{job.label}: stopped before it was warm; nothing is measured.")
        rate = f"{len(seconds) * job.config.batch_size / sum(seconds):,.0f} steps/s"
        if job.is_benchmark:
            on = f"{self.about['network']['kind']} on {self.about['device']}"
            return RunResult(job.label, "finished", f"{job.label}: {rate} with the {on} over {len(seconds)} updates.")
        row, verb = self.row, "stopped" if self.is_stopped else "trained"
        sentence = f"{job.label}: {verb} after update {row['update']:,}, {row['timesteps']:,} steps ({rate})."
        paths = [self.model, self.checkpoint, self._updates.path, self._episodes.path, self._summary]
        paths += [self.run.folder, self.run.folder / CURVE] if self.run.folder else []
        files = tuple(str(path) for path in paths if path.exists())
        outcome: Literal["stopped", "finished"] = "stopped" if self.is_stopped else "finished"
        return RunResult(job.label, outcome, sentence, files, not self.run.writer.failing)

    def _take(self, metrics: Metrics) -> None:
        """Log an update with its rates, and report it."""
        rates = self.job.config.training.rates(int(metrics["update"]) - 1)
        self.row = {**metrics, **rates._asdict()}
        if self.run.folder:
            self.run.writer.attempt(self._updates.path, partial(self._updates.write, self.row))
        self.seconds.append(self.job.config.batch_size / metrics["steps_per_second"])
        self._report(metrics)

    def _summed_up(self) -> dict[str, Any]:
        config = self.job.config
        versions = {"goodharts": goodharts.__version__, "rules": goodharts.RULES_VERSION}
        return {
            "mode": self.job.mode,
            "name": self.job.name,
            "outcome": "stopped" if self.is_stopped else "finished",
            "update": self.row["update"],
            "updates": config.training.updates,
            "timesteps": self.row["timesteps"],
            "this_session": {"updates": len(self.seconds), "episodes": self.episodes, "seconds": sum(self.seconds)},
            "last_update": self.row,
            **self.about,
            "versions": versions | self.about["versions"],
            "hyperparameters": config.plain(),
        }


def nothing_to_keep(label: str) -> RunResult:
    """Return the result of a run that is stopped before its first update is complete."""
    return RunResult(label, "stopped", f"{label}: stopped before the first update was complete; nothing to keep.")


@contextlib.contextmanager
def reserved(modes: Sequence[str], folder: Path = Path()) -> Iterator[None]:
    """Make the folders, and hold what these modes are trained into against other trainers.

    Raises UsageError where a folder cannot be written to, or where another trainer is at work on one of the modes.
    """
    for name in (MODELS, LOGS, RUNS):
        make_folder(folder / name, "make room there, or train in another folder")
    with contextlib.ExitStack() as stack:
        for mode in modes:
            path = model_path(mode, folder / MODELS)
            refusal = f"Another process is training {path}: let it end first, or train in another folder."
            stack.enter_context(locked(path.parent, f"ppo_{mode}.lock", refusal))
        yield


def engine_named(name: EngineName) -> Any:  # noqa: ANN401 - a module
    """The module that trains with an engine by ``check(config)`` and ``train(mode_run)``, imported here: it is slow.

    ``check`` raises UsageError where these settings cannot be trained with, here and with this engine. ``train`` trains
    until the run's updates are done or it is asked to stop, and saves; it raises UsageError as ``check`` does.
    """
    return import_module(f"goodharts.training.{name}_ppo")


def check(config: Config) -> None:
    """Raises UsageError where these settings cannot be trained with here, before anything is written."""
    engine_named(config.training.engine).check(config)


def train_job(job: Job, **outputs: Any) -> RunResult:  # noqa: ANN401 - as ModeRun has them
    """Train a mode until its updates are done or it is asked to stop; either way everything is saved.

    It writes into the folders that ``reserved`` makes and holds. Where ``torchrun`` started several processes, each
    calls this, and only the first one writes. Raises UsageError where the device is missing, the games cannot be
    shared, the network cannot be compiled, or the checkpoint is damaged, TrainingDiverged where a loss is no longer a
    number, and ParityError where there is not enough memory.
    """
    mode_run = ModeRun(job, **outputs)
    try:
        with mode_run:
            engine_named(job.config.training.engine).train(mode_run)
    except Exception as error:
        if is_out_of_memory(error) or (error.__cause__ and is_out_of_memory(error.__cause__)):
            raise ParityError(
                f"Training {job.mode} needs more memory than {mode_run.about.get('device', 'the device')} has: give "
                "fewer --num-envs, or more minibatches in config.toml."
            ) from None
        if type(error).__module__.startswith(_COMPILERS):
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise UsageError(f"torch.compile failed ({reason:.200}): leave --compile-mode out.") from None
        raise
    return mode_run.ended()

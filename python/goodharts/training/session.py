"""A run of one mode from its start to its end: trained, shown, saved."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import goodharts
from goodharts.config import Config
from goodharts.training.checkpoints import Checkpoint, checkpoint_of, restore
from goodharts.training.engines import engine_named
from goodharts.training.outputs import Outputs
from goodharts.training.trainer import Row, Seconds, Trainer

_RETRY_SECONDS = 60.0
"""When a save that failed is tried again."""
WARM_UP_UPDATES = 2
"""Updates of a benchmark that come before the measured ones: they compile, and record what was compiled."""


@dataclass(frozen=True)
class Job:
    """What one mode's run is to do.

    config: the settings. name: of its logs. start: where it goes on from. is_benchmark: measure, and write nothing.
    folder: where its outputs go.
    """

    mode: str
    config: Config
    name: str
    start: Checkpoint | None = None
    is_benchmark: bool = False
    folder: Path = Path()


@dataclass(frozen=True)
class Ended:
    """How a mode's run ended, in a sentence; files: what it left."""

    mode: str
    outcome: Literal["finished", "stopped", "failed"]
    sentence: str
    files: tuple[str, ...] = ()
    is_whole: bool = True


def train_mode(
    job: Job,
    *,
    report: Callable[[Row], None] = lambda row: None,
    say: Callable[[str], None] = lambda line: None,
    should_stop: Callable[[], bool] = lambda: False,
    begun: Callable[[], None] = lambda: None,
) -> Ended:
    """Train a mode until its updates are done or ``should_stop`` says so; either way everything is saved.

    It writes into the folders that ``outputs.reserved`` makes and holds. Where ``torchrun`` started several processes,
    each calls this, and only the first one writes.

    Args:
        job: what to do.
        report: takes the row of each update, in the first process.
        say: takes lines for the user.
        should_stop: asked after each update.
        begun: called after each update: from the first one on there is something to keep.

    Raises:
        UsageError: the device is missing, the games cannot be shared, the network cannot be compiled, or the
            checkpoint is damaged.
        TrainingDiverged: a loss is no longer a number; the last checkpoint stays.
        ParityError: there is not enough memory.
    """
    engine = engine_named(job.config.training.engine)
    try:
        with engine.opened(job.mode, job.config) as trainer:
            if job.start:
                restore(trainer, job.start)
            return _Session(job, trainer, report, say, should_stop, begun).run()
    except Exception as error:
        explained = engine.explained(error, job.mode)
        if explained:
            raise explained from None
        raise


def nothing_to_keep(mode: str) -> Ended:
    """How a mode ends that is stopped before its first update is complete."""
    return Ended(mode, "stopped", f"{mode}: stopped before the first update was complete; nothing to keep.")


class _Session:
    """The loop around a trainer."""

    def __init__(
        self,
        job: Job,
        trainer: Trainer,
        report: Callable[[Row], None],
        say: Callable[[str], None],
        should_stop: Callable[[], bool],
        begun: Callable[[], None],
    ) -> None:
        self._job, self._trainer = job, trainer
        self._report, self._should_stop, self._begun = report, should_stop, begun
        writes = trainer.is_first and not job.is_benchmark
        self._outputs = Outputs(job.mode, job.name, say, after=trainer.update, folder=job.folder) if writes else None
        self._since = trainer.update
        self._times: list[Seconds] = []
        self._row: Row = {}
        self._episodes = 0

    def run(self) -> Ended:
        trainer, interval = self._trainer, 60 * self._job.config.runtime.checkpoint_minutes
        due = time.monotonic() + interval
        is_stopped = self._is_stopped()
        while not trainer.is_done and not is_stopped:
            self._update()
            is_stopped = self._is_stopped()
            if not (trainer.is_done or is_stopped) and trainer.first_says(time.monotonic() >= due):
                due = time.monotonic() + (interval if self._save() else min(interval, _RETRY_SECONDS))
        has_trained = trainer.update > self._since
        if has_trained:
            self._save()
        return self._ended(has_trained, is_stopped and not trainer.is_done)

    def _update(self) -> None:
        updated = self._trainer.step()
        self._begun()
        self._times.append(self._trainer.seconds)
        self._row = updated.row
        self._episodes += len(updated.episodes)
        if self._trainer.is_first:
            self._report(updated.row)
        if self._outputs:
            self._outputs.write(updated)

    def _is_stopped(self) -> bool:
        return self._trainer.any(self._should_stop())

    def _save(self) -> bool:
        """Save, where files are written; every process takes part. Whether it went well."""
        if self._job.is_benchmark:
            return True
        checkpoint = checkpoint_of(self._trainer, self._job.name)
        return self._outputs.save(self._trainer.model(), checkpoint) if self._outputs else True

    def _ended(self, has_trained: bool, is_stopped: bool) -> Ended:
        mode, trainer = self._job.mode, self._trainer
        if not has_trained:
            return nothing_to_keep(mode)
        is_benchmark = self._job.is_benchmark
        times = self._times[WARM_UP_UPDATES:] if is_benchmark else self._times[1:] or self._times
        if not times:
            return Ended(mode, "stopped", f"{mode}: stopped before it was warm; nothing is measured.")
        seconds, playing = sum(each.all for each in times), sum(each.playing for each in times)
        rate = f"{len(times) * trainer.config.batch_size / seconds:,.0f} steps/s"
        if is_benchmark:
            spent = f"{playing / seconds:.0%} of the time playing, the rest learning"
            on = f"{trainer.network.kind} on {trainer.place}"
            return Ended(mode, "finished", f"{mode}: {rate} with the {on} over {len(times)} updates, {spent}.")
        verb = "stopped" if is_stopped else "trained"
        said = f"{mode}: {verb} after update {trainer.update:,}, {trainer.timesteps:,} steps ({rate})."
        if self._outputs is None:
            return Ended(mode, "stopped" if is_stopped else "finished", said)
        self._outputs.end(self._summary(is_stopped))
        failing = self._outputs.failing
        if failing:
            said += f" Not complete, because they could not be written: {', '.join(failing)}."
        files = tuple(str(path) for path in self._outputs.files)
        return Ended(mode, "stopped" if is_stopped else "finished", said, files, not failing)

    def _summary(self, is_stopped: bool) -> dict[str, Any]:
        trainer = self._trainer
        return {
            "mode": self._job.mode,
            "name": self._job.name,
            "outcome": "stopped" if is_stopped else "finished",
            "update": trainer.update,
            "updates": trainer.config.training.updates,
            "timesteps": trainer.timesteps,
            "this_session": {
                "updates": trainer.update - self._since,
                "episodes": self._episodes,
                "seconds": sum(each.all for each in self._times),
            },
            "last_update": dict(self._row),
            "network": {"kind": trainer.network.kind, "parameters": trainer.parameters},
            "engine": trainer.engine,
            "device": trainer.place,
            "precision": trainer.precision,
            "processes": trainer.processes,
            "versions": {
                "goodharts": goodharts.__version__,
                "rules": goodharts.RULES_VERSION,
                **trainer.versions,
            },
            "hyperparameters": trainer.config.plain(),
        }

"""Training with torch: alone, or as one of the processes that ``torchrun`` started."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import torch

from goodharts.config import Config
from goodharts.devices import choose_device, prepare, share_threads
from goodharts.training.checkpoints import BEGIN_ANEW, FORMAT, KIND, Checkpoint, write_checkpoint
from goodharts.training.engine import Engine, out_of_memory
from goodharts.training.parallel import Processes, joined
from goodharts.training.runs import ModeRun
from goodharts.training.torch_trainer import TorchTrainer
from goodharts.training.torchrun import local_rank
from parity.errors import ParityError, UsageError, is_out_of_memory
from parity.safe_read import Unreadable

_COMPILERS = ("torch._dynamo", "torch._inductor")
"""The modules whose errors are those of ``torch.compile``."""
_RETRY_SECONDS = 60.0
"""When a save that failed is tried again."""


class TorchEngine(Engine):
    """Trains in torch."""

    def __init__(self) -> None:
        self._device = torch.device("cpu")

    def check(self, config: Config) -> None:
        choose_device(config.runtime.device, local_rank())

    def share_cores(self, processes: int) -> None:
        share_threads(processes)

    def train(self, run: ModeRun) -> None:
        job = run.job
        self._device = choose_device(job.config.runtime.device, local_rank())
        prepare(self._device)
        with joined(self._device) as processes:
            trainer = TorchTrainer(job.mode, job.config, self._device, processes)
            if job.start:
                restore(trainer, job.start)
            run.about = trainer.about()
            _train(trainer, run, processes)

    def explained(self, error: Exception, mode: str) -> ParityError | None:
        if is_out_of_memory(error):
            return out_of_memory(mode, str(self._device))
        if type(error).__module__.startswith(_COMPILERS):
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            return UsageError(f"torch.compile failed ({reason:.200}): leave --compile-mode out.")
        return None


def _train(trainer: TorchTrainer, mode_run: ModeRun, processes: Processes) -> None:
    """Update after update, with a save every so many minutes and at the end; every process takes part in all of it."""
    run, stop, config = mode_run.run, mode_run.run.stop, mode_run.job.config
    if not processes.any(stop.requested):
        total = config.training.updates * config.batch_size
        run.begin(mode_run.settings(), total, after=trainer.update, is_resumed=mode_run.after > 0)
    interval = 60 * config.runtime.checkpoint_minutes
    due, is_saved = time.monotonic() + interval, True
    while not trainer.is_done and not processes.any(stop.requested):
        updated = trainer.step()
        stop.begun()
        is_saved = False
        if processes.is_first:
            mode_run.write_episodes(trainer.update, updated.episodes)
            run.write(updated.metrics)
        if processes.gathered(time.monotonic() >= due)[0]:  # clocks differ, and the first one's counts
            is_saved = _save(trainer, mode_run)
            due = time.monotonic() + (interval if is_saved else min(interval, _RETRY_SECONDS))
    if not is_saved:
        _save(trainer, mode_run)


def _save(trainer: TorchTrainer, mode_run: ModeRun) -> bool:
    """Save, where files are written; whether it went well."""
    job, writer = mode_run.job, mode_run.run.writer
    if job.is_benchmark:
        return True
    content = checkpoint_of(trainer, job.name)
    if not mode_run.run.folder:
        return True
    is_saved = writer.attempt(mode_run.checkpoint, lambda: write_checkpoint(mode_run.checkpoint, content))
    return writer.attempt(mode_run.model, lambda: mode_run.write_model(trainer.model())) and is_saved


def checkpoint_of(trainer: TorchTrainer, name: str) -> dict[str, Any]:
    """What the file will hold; every process of a run takes part in this."""
    return {
        "format": FORMAT,
        "kind": KIND,
        "mode": trainer.mode.name,
        "name": name,
        "network": {**asdict(trainer.network), "channels": list(trainer.network.channels)},
        "config": trainer.config.plain(),
        "update": trainer.update,
        "timesteps": trainer.timesteps,
        "seconds": trainer.seconds,
        "state": trainer.state(),
    }


def restore(trainer: TorchTrainer, checkpoint: Checkpoint) -> None:
    """Let a trainer go on from a checkpoint of ``--engine torch``; raises UsageError where that is damaged."""
    try:
        trainer.restore(checkpoint.update, checkpoint.timesteps, checkpoint.state)
    except Unreadable as fault:
        raise UsageError(f"{checkpoint.path} cannot be used: {fault}; {BEGIN_ANEW}.") from None
    except Exception as error:  # damaged values fail in every way there is
        raise UsageError(f"{checkpoint.path} is damaged ({type(error).__name__}): {BEGIN_ANEW}.") from None
    trainer.seconds = checkpoint.seconds

"""Host loop of a run: request chunks of updates, write their metrics, and save on a schedule."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rlparity.errors import ParityError
from rlworldkit.jax.env import JaxEnv
from rlworldkit.jax.switches import training_switches
from rlworldkit.ppo import parallel
from rlworldkit.ppo.checkpoints import Checkpoint, Log, LoopState, save_checkpoint
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.metrics import metrics_of
from rlworldkit.ppo.params import InitialParams, Params, checkpoint_path, params_path, save_params
from rlworldkit.ppo.ppo import UpdateStats
from rlworldkit.ppo.program import TrainingLoop, make_train
from rlworldkit.ppo.state import EpisodeInfo, init_runner
from rlworldkit.runs.folder import LATEST
from rlworldkit.runs.retrying_writer import RetryingWriter, reason
from rlworldkit.runs.run import Progress, Run, TrainingDiverged

CALL_SECONDS = 4.0
"""Target for the duration of one call of the compiled program, once the duration of an update is known."""
_NEVER = 2**31 - 1
_RETRY_SECONDS = 60.0
"""Seconds until a failed save is retried."""


@dataclass
class Saver:
    """Saves a run on a schedule; a run with a folder is always saved at its end.

    A save that fails in the middle of a run (a full disk) is reported once. It is retried when the next save is due,
    on a schedule by time within a minute; earlier files stay.

    every_updates: the number of updates between saves; None: saves are ``every_minutes`` apart.
    checkpoint: the path of the latest checkpoint; None: ``checkpoint_{updates}.pkl`` in the folder.
    agent: a path and the function that writes the agent there at a save; None: ``params_{updates}.npz`` in the folder.
    """

    every_updates: int | None = None
    every_minutes: float = 10.0
    checkpoint: Path | None = None
    agent: tuple[Path, Callable[[Params, Progress], None]] | None = None

    def begin(self, run: Run, env: JaxEnv, settings: dict[str, Any]) -> None:
        """Start to save a run; settings: those of the run, as plain values."""
        self._run, self._env, self._settings = run, env, settings
        self._writer = RetryingWriter(run.print_line)
        self._last_time, self._last_updates = time.monotonic(), -1

    def updates_left(self, updates: int) -> int:
        """Number of updates until a save is due by their count; practically infinite on a schedule by time."""
        return self.every_updates - updates % self.every_updates if self.every_updates else _NEVER

    def after(self, state: LoopState) -> None:
        """Save if a save is due."""
        seconds = 60 * self.every_minutes
        if self.every_updates:
            is_due = state.progress.updates % self.every_updates == 0
        else:
            is_due = bool(parallel.agreed(time.monotonic() - self._last_time >= seconds))
        if is_due and not self._writer.attempt(self._files(state)[0], partial(self._write, state), "checkpoint"):
            self._last_time = time.monotonic() - seconds + min(_RETRY_SECONDS, seconds)

    def save(self, state: LoopState) -> list[Path]:
        """Save now, unless this update is saved already; return the files. Raises ParityError if writing fails."""
        files = self._files(state)
        if parallel.agreed(float(self._last_updates != state.progress.updates)):  # if the first failed, all retry
            try:
                self._write(state)
            except OSError as error:
                missing = [str(file) for file in files if not file.exists()]
                raise ParityError(
                    f"{' and '.join(missing or map(str, files))} could not be written ({reason(error)}): make room, "
                    f"and `--resume {LATEST}`."
                ) from error
        return files

    def _files(self, state: LoopState) -> list[Path]:
        updates, folder = state.progress.updates, self._run.folder or Path()
        checkpoint = self.checkpoint or checkpoint_path(folder, updates)
        return [checkpoint, self.agent[0] if self.agent else params_path(folder, updates)]

    def _write(self, state: LoopState) -> None:
        """Write checkpoint and agent, the agent even if the checkpoint fails; raises OSError as writing does."""
        checkpoint, agent = self._files(state)
        is_first = parallel.is_first_process()
        try:
            save_checkpoint(checkpoint, state, self._settings, self._env)
        finally:
            params = state.runner.train_state.playable_params
            if is_first and self.agent:
                self.agent[1](params, state.progress)
            elif is_first:
                save_params(agent, params)
        self._last_time, self._last_updates = time.monotonic(), state.progress.updates
        if is_first:
            for path in (checkpoint, agent):
                self._run.upload(path)


@dataclass(frozen=True)
class TrainJob:
    """Inputs and outputs of a training run.

    config: the settings. env: the world. run: where progress, metrics and checkpoints go; by default nowhere.
    start: a checkpoint to resume from. initial: trained parameters that a run without ``start`` begins with.
    saver: when and where checkpoints are written, if the run has a folder.
    notes: plain values to keep with the settings in ``config.json`` and in checkpoints.
    on_episodes: called on the host with the number of each update and the episodes of its rollout, (steps, games).
    """

    config: TrainConfig
    env: JaxEnv
    run: Run = field(default_factory=Run)
    start: Checkpoint | None = None
    initial: InitialParams | None = None
    saver: Saver = field(default_factory=Saver)
    notes: Mapping[str, Any] = field(default_factory=dict)
    on_episodes: Callable[[int, EpisodeInfo], None] | None = None

    @property
    def done(self) -> Progress:
        """Progress of the run before this session: that of ``start``, or none."""
        return self.start.progress if self.start else Progress()

    @property
    def updates_left(self) -> int:
        """Number of whole updates that fit into the remaining steps."""
        return (self.config.total_timesteps - self.done.timesteps) // self.config.batch_size


def training_loop(job: TrainJob, start: LoopState, saver: Saver | None = None) -> TrainingLoop[LoopState]:
    """Run from ``start`` until all steps are done, those of ``start`` included, or the run is asked to stop.

    Every ``config.log_interval`` updates, and at the end, the metrics since the last row are written. A call of the
    compiled program takes a few seconds at most, so that a stop takes effect soon; grouping updates into calls does
    not change their results. Raises TrainingDiverged if the loss in a row of metrics is not finite.
    """
    config, run = job.config, job.run
    runner, progress, log = start
    last_update = progress.updates + (config.total_timesteps - progress.timesteps) // config.batch_size
    fits = 1
    while progress.updates < last_update and not parallel.any_process(run.stop.requested):
        to_log = config.log_interval - progress.updates % config.log_interval
        to_save = saver.updates_left(progress.updates) if saver else to_log
        wanted = min(fits, to_log, to_save, last_update - progress.updates)
        runner, stats, chunk, seconds = yield runner, wanted
        fits = max(1, int(parallel.agreed(CALL_SECONDS * chunk / seconds)))
        progress = Progress(
            progress.updates + chunk, progress.timesteps + chunk * config.batch_size, progress.seconds + seconds
        )
        run.stop.begun()
        if job.on_episodes and stats.episodes is not None:
            for index in range(chunk):
                number = progress.updates - chunk + index + 1
                job.on_episodes(number, jax.tree.map(lambda leaf, index=index: leaf[index], stats.episodes))
        entries = jax.tree.map(lambda leaf, chunk=chunk: leaf[:chunk], stats._replace(episodes=None))
        log = log._replace(unlogged=(*log.unlogged, entries))
        if progress.updates % config.log_interval == 0 or progress.updates == last_update or run.stop.requested:
            metrics = _metrics_since(log, progress, job.env, config.natural_games / config.num_envs)
            log = Log(progress, metrics)
            run.write(metrics)
            if not math.isfinite(metrics["train/total_loss"]):
                raise TrainingDiverged(
                    f"Training diverged by update {progress.updates}: the loss is no longer a number; start again "
                    "with a lower learning rate."
                )
        if saver:
            saver.after(LoopState(runner, progress, log))
    return LoopState(runner, progress, log)


def _metrics_since(log: Log, now: Progress, env: JaxEnv, natural: float = 1.0) -> dict[str, float]:
    """Row of metrics since the last one; ``natural`` is the share of the games that count in metrics."""
    together: UpdateStats = jax.tree.map(lambda *leaves: np.concatenate(leaves), *log.unlogged)
    steps = now.timesteps - log.at.timesteps
    return {
        "update": now.updates,
        "timesteps": now.timesteps,
        "seconds": now.seconds,
        "steps_per_second": steps / (now.seconds - log.at.seconds),
    } | metrics_of(together.loss.by_name(), together.rollout, round(natural * steps), env)


@training_switches()
def metric_names(config: TrainConfig, env: JaxEnv) -> list[str]:
    """Names of a run's metrics, found by tracing its program without compiling it."""
    seeds = jnp.asarray(env.initial_seeds(config.seed, config.num_envs))
    runner = jax.eval_shape(partial(init_runner, config, env), jax.eval_shape(jax.vmap(env.reset), seeds))
    _, stats = jax.eval_shape(make_train(config, env, None), runner, jnp.int32(1), jnp.int32(1), env.prices)
    ones: UpdateStats = jax.tree.map(lambda leaf: np.ones(leaf.shape, leaf.dtype), stats)
    return list(metrics_of(ones.loss.by_name(), ones.rollout, 1, env))

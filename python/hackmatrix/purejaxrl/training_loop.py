"""The host's side of training: compile once, run chunks of updates, hand metrics to sinks."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import FrameType
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from hackmatrix.purejaxrl import parallel
from hackmatrix.purejaxrl.config import TrainConfig
from hackmatrix.purejaxrl.env_wrapper import HackMatrixGymnax
from hackmatrix.purejaxrl.progress import Progress
from hackmatrix.purejaxrl.train import (
    RunnerState,
    TrainFunction,
    UpdateStats,
    init_runner,
    make_train,
    shardings_of,
)
from hackmatrix.rules import ACTION_KINDS
from parity.errors import ParityError

POLL_SECONDS = 0.05
CALL_SECONDS = 4.0
"""How long one call of the compiled program should take at most, once it is known how long an update takes."""

Metrics = Mapping[str, float]


class Sink(Protocol):
    """Something that takes the metrics of each logging interval."""

    def write(self, metrics: Metrics) -> None:
        """Take the metrics, names as documented, of one interval."""


class CompiledTraining(NamedTuple):
    """A run that is ready to start, and how long that took."""

    train: TrainFunction
    runner: RunnerState
    compile_seconds: float


class TrainingResult(NamedTuple):
    """What a run leaves behind."""

    runner: RunnerState
    progress: Progress


class Saving(Protocol):
    """When a run is saved, and how."""

    def updates_left(self, updates: int) -> int:
        """After how many more updates, 1 or more, it must be asked again whether to save."""

    def after(self, runner: RunnerState, progress: Progress) -> None:
        """Save if it is time."""


class TrainingDiverged(ParityError):
    """The loss is no longer a number."""


class StopRequest:
    """A context in which Ctrl-C or ``kill`` asks for a clean end; a second one ends the process at once.

    ``announce`` is called on the first. Outside the main thread, where Python allows
    no signal handlers, the context does nothing.
    """

    def __init__(self, announce: Callable[[], None] = lambda: None) -> None:
        self.requested = False
        self._announce = announce
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        for handled in self._previous:
            signal.signal(handled, signal.SIG_DFL)
        self._announce()


def compile_training(config: TrainConfig, env: HackMatrixGymnax) -> CompiledTraining:
    """Prepare the first state of a run and compile its updates; raises UsageError on an impossible ``config``."""
    start = time.perf_counter()
    train = make_train(config, env)
    shapes = jax.eval_shape(partial(init_runner, config, env))
    if env.mesh is not None:
        wanted = shardings_of(config, env)
        shapes = jax.tree.map(
            lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding), shapes, wanted
        )
    # XLA works outside Python's lock: the first state is compiled and made while the updates are traced
    with ThreadPoolExecutor(1) as beside:
        making = beside.submit(init_runner, config, env)
        compiled = train.lower(shapes, jnp.int32(1)).compile()
        runner = making.result()
    if env.mesh is not None:
        runner = jax.tree.map(parallel.placed, runner, wanted)
    return CompiledTraining(compiled, runner, time.perf_counter() - start)


def run_training(
    compiled: CompiledTraining,
    config: TrainConfig,
    env: HackMatrixGymnax,
    sinks: Iterable[Sink],
    stop: StopRequest,
    start: Progress = Progress(),  # noqa: B008 - immutable
    saving: Saving | None = None,
) -> TrainingResult:
    """Run until ``config.total_timesteps`` steps are done, ``start`` included, or until ``stop`` is requested.

    Every ``config.log_interval`` updates, and at the end, the metrics of the updates since go to every sink. A call
    of the compiled program takes a few seconds at most, so that a stop need not wait longer; how updates are grouped
    into calls changes nothing. Raises TrainingDiverged at metrics whose loss is not finite.
    """
    sinks = list(sinks)
    runner, progress, logged = compiled.runner, start, start
    last_update = start.updates + (config.total_timesteps - start.timesteps) // config.batch_size
    since: list[UpdateStats] = []
    fits = 1
    while progress.updates < last_update and not parallel.any_process(stop.requested):
        to_log = config.log_interval - progress.updates % config.log_interval
        to_save = saving.updates_left(progress.updates) if saving else to_log
        chunk = min(fits, to_log, to_save, last_update - progress.updates)
        begun = time.perf_counter()
        runner, stats = compiled.train(runner, jnp.int32(chunk))
        _wait_for(stats)
        seconds = time.perf_counter() - begun
        fits = max(1, int(parallel.agreed(CALL_SECONDS * chunk / seconds)))
        progress = Progress(
            progress.updates + chunk, progress.timesteps + chunk * config.batch_size, progress.seconds + seconds
        )
        since.append(_first(chunk, stats))
        if progress.updates % config.log_interval == 0 or progress.updates == last_update or stop.requested:
            metrics = _metrics_between(logged, progress, since, env.reward_names)
            since, logged = [], progress
            for sink in sinks:
                sink.write(metrics)
            if not math.isfinite(metrics["train/total_loss"]):
                raise TrainingDiverged(
                    f"Training diverged by update {progress.updates}: the loss is no longer a number; start again "
                    "with a lower --lr."
                )
        if saving:
            saving.after(runner, progress)
    return TrainingResult(runner, progress)


def _metrics_between(
    before: Progress, after: Progress, stats: list[UpdateStats], reward_names: Iterable[str]
) -> dict[str, float]:
    together: UpdateStats = jax.tree.map(lambda *leaves: np.concatenate(leaves), *stats)
    return {
        "update": after.updates,
        "timesteps": after.timesteps,
        "seconds": after.seconds,
        "steps_per_second": (after.timesteps - before.timesteps) / (after.seconds - before.seconds),
    } | metrics_of(together, reward_names)


def metrics_of(stats: UpdateStats, reward_names: Iterable[str]) -> dict[str, float]:
    """The documented metrics of a chunk whose stats have a leading axis of updates.

    Losses, rewards (units per step) and ``num_episodes`` are means per update, the rest describes
    the chunk as a whole. Means over episodes are NaN if none ended.
    """
    facts = stats.facts
    steps = float(facts.action_counts.sum())
    episodes = int(facts.episodes.sum())
    components = facts.component_sums.astype(np.float64).sum(axis=0) / steps / 1000.0
    loss = {f"train/{name}": float(np.mean(values)) for name, values in stats.loss._asdict().items()}
    return {
        "train/mean_episode_return": float(facts.return_sum.sum()) / episodes if episodes else math.nan,
        "train/mean_episode_length": float(facts.length_sum.sum()) / episodes if episodes else math.nan,
        "train/mean_reward": float(components.sum()),
        "train/num_episodes": episodes / len(facts.episodes),
        **loss,
        **{f"reward/{name}": float(value) for name, value in zip(reward_names, components, strict=True)},
        **{
            f"actions/{kind}_frac": float(count) / steps
            for kind, count in zip(ACTION_KINDS, facts.action_counts.sum(axis=0), strict=True)
        },
        "stats/highest_stage": int(facts.highest_stage.max()),
    }


def _first(count: int, stats: UpdateStats) -> UpdateStats:
    entries: UpdateStats = jax.tree.map(lambda leaf: np.asarray(leaf)[:count], stats)
    return entries


def _wait_for(stats: UpdateStats) -> None:
    """Wait for a running chunk in short sleeps, between which Python can act on signals."""
    last = jax.tree.leaves(stats)[-1]
    while not last.is_ready():
        time.sleep(POLL_SECONDS)
    jax.block_until_ready(stats)

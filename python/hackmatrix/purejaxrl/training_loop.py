"""The host's side of training: compile once, run chunks of updates, hand metrics to sinks."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import platformdirs

from hackmatrix.errors import HackMatrixError
from hackmatrix.purejaxrl.config import TrainConfig
from hackmatrix.purejaxrl.env_wrapper import HackMatrixGymnax
from hackmatrix.purejaxrl.masked_ppo import Params
from hackmatrix.purejaxrl.train import RunnerState, TrainFunction, UpdateStats, init_runner, make_train

POLL_SECONDS = 0.05
ACTION_KINDS = ("move", "siphon", "program")

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
    """What a run leaves behind. ``train_seconds`` excludes compilation."""

    params: Params
    updates: int
    timesteps: int
    train_seconds: float


class TrainingDiverged(HackMatrixError):
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


def enable_compilation_cache() -> None:
    """Keep compiled programs between runs, in JAX_COMPILATION_CACHE_DIR if set, else the user's cache directory."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        jax.config.update("jax_compilation_cache_dir", str(Path(platformdirs.user_cache_dir("hackmatrix")) / "jax"))


def compile_training(config: TrainConfig, env: HackMatrixGymnax) -> CompiledTraining:
    """Prepare the first state of a run and compile its updates; raises UsageError on an impossible ``config``."""
    start = time.perf_counter()
    train = make_train(config, env)
    shapes = jax.eval_shape(partial(init_runner, config, env))
    # XLA works outside Python's lock: the first state is compiled and made while the updates are traced
    with ThreadPoolExecutor(1) as beside:
        making = beside.submit(init_runner, config, env)
        compiled = train.lower(shapes, jnp.int32(1)).compile()
        runner = making.result()
    return CompiledTraining(compiled, runner, time.perf_counter() - start)


def run_training(
    compiled: CompiledTraining,
    config: TrainConfig,
    env: HackMatrixGymnax,
    sinks: Iterable[Sink],
    stop: StopRequest,
) -> TrainingResult:
    """Run all updates in chunks of ``config.log_interval``, or up to the chunk in which ``stop`` was requested.

    Every chunk's metrics go to every sink. Raises TrainingDiverged after a chunk whose loss is not finite.
    """
    sinks = list(sinks)
    runner, updates, seconds = compiled.runner, 0, 0.0
    while updates < config.num_updates and not stop.requested:
        chunk = min(config.log_interval, config.num_updates - updates)
        start = time.perf_counter()
        runner, stats = compiled.train(runner, jnp.int32(chunk))
        _wait_for(stats)
        chunk_seconds = time.perf_counter() - start
        updates, seconds = updates + chunk, seconds + chunk_seconds
        progress = {
            "update": updates,
            "timesteps": updates * config.batch_size,
            "seconds": seconds,
            "steps_per_second": chunk * config.batch_size / chunk_seconds,
        }
        metrics = progress | metrics_of(_first(chunk, stats), env.reward_names)
        for sink in sinks:
            sink.write(metrics)
        if not math.isfinite(metrics["train/total_loss"]):
            raise TrainingDiverged(
                f"Training diverged by update {updates}: the loss is no longer a number; start again with a lower --lr."
            )
    return TrainingResult(runner.train_state.params, updates, updates * config.batch_size, seconds)


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

"""Callbacks of MaskablePPO: saving, evaluating, stopping, and episode metrics."""

import io
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter

from rlparity.io.atomic_write import write_whole
from rlparity.io.console import counted
from rlparity.io.safe_read import MIB, Unreadable, read_npz, refused
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.runs.folder import EVALUATIONS
from rlworldkit.runs.run import Run
from rlworldkit.sb3.config import MaskablePPOConfig
from rlworldkit.sb3.models import model_content

BEST_MODEL = "best_model.zip"
EVALUATIONS_LIMIT = 256 * MIB
"""Size of the largest file of evaluations that is read, in bytes, unpacked."""
_TICK_SECONDS = 0.25
_LINE_SECONDS = 10.0
"""Seconds between progress lines of an evaluation without a terminal; a shorter evaluation prints none."""

EpisodeSummary = dict[str, Any]
Evaluation = tuple[list[float], list[int]]
"""Returns and lengths of the episodes of one evaluation."""


class Checkpoints(BaseCallback):
    """Writes ``checkpoint_{steps}_steps.zip`` every ``frequency`` steps of all games together.

    A checkpoint that cannot be written is reported once, and the next one is tried when it is due.
    """

    def __init__(self, run: Run, folder: Path, frequency: int) -> None:
        super().__init__()
        self._run, self._folder, self._frequency = run, folder, frequency

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self._frequency

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next += self._frequency
            content = model_content(self.model)  # type: ignore[arg-type]
            self._run.writer.attempt(self.path, partial(write_whole, self.path, content), "checkpoint")
        return True

    @property
    def path(self) -> Path:
        """Path of the checkpoint at the model's current step."""
        return self._folder / f"checkpoint_{self.model.num_timesteps}_steps.zip"


class Evaluations(MaskableEvalCallback):
    """Plays the same games with action masks every ``config.eval_freq`` steps, and keeps the best model.

    The games are those of ``seed``, ``seed`` + 1, …; results of earlier evaluations of the run, up to the step
    ``after``, are taken into account. A file that cannot be written is reported once and retried.
    """

    def __init__(
        self, run: Run, folder: Path, env: WorldVecEnv, config: MaskablePPOConfig, *, seed: int, after: int
    ) -> None:
        super().__init__(env, n_eval_episodes=config.eval_episodes, eval_freq=config.eval_freq, verbose=0, warn=False)
        self._run, self._folder, self._seed = run, folder, seed
        earlier = earlier_evaluations(folder / EVALUATIONS)
        self._evaluations = {step: earlier[step] for step in sorted(earlier) if step <= after}

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self.eval_freq
        if (self._folder / BEST_MODEL).exists():
            means = [float(np.mean(returns)) for returns, _ in self._evaluations.values()]
            self.best_mean_reward = max(means, default=-np.inf)

    def _on_step(self) -> bool:
        if self.num_timesteps < self._next:
            return True
        self._next += self.eval_freq
        self.n_calls = self.eval_freq  # so that the parent class evaluates in this call
        best = self.best_mean_reward
        self.eval_env.seed(self._seed)
        # the parent class keeps results only if it writes them, and it does not write atomically
        self.log_path = io.BytesIO()  # type: ignore[assignment]
        self._shown = time.monotonic()
        should_continue = super()._on_step()
        self._run.show_evaluation("")
        self._evaluations[self.num_timesteps] = self.evaluations_results[-1], self.evaluations_length[-1]
        self._run.writer.write(self._folder / EVALUATIONS, _archive(self._evaluations))
        if self.best_mean_reward > best:
            self._run.writer.write(self._folder / BEST_MODEL, model_content(self.model))  # type: ignore[arg-type]
        return should_continue

    def _log_success_callback(self, locals_: dict[str, Any], globals_: dict[str, Any]) -> None:
        """Show the progress of the evaluation, which calls this after every step of every game."""
        super()._log_success_callback(locals_, globals_)
        is_live = self._run.console.is_terminal
        if time.monotonic() - self._shown > (_TICK_SECONDS if is_live else _LINE_SECONDS):
            self._shown = time.monotonic()
            ended, longest = int(locals_["episode_counts"].sum()), int(locals_["current_lengths"].max())
            games = counted(self.n_eval_episodes, "game")
            self._run.show_evaluation(f"evaluating: {ended} of {games} ended, the longest is at step {longest:,}")


def _archive(evaluations: Mapping[int, Evaluation]) -> bytes:
    """Serialize evaluations by step, in Stable-Baselines3's format; rows with fewer episodes are padded with NaN."""
    returns, lengths = (
        np.array(list(zip_longest(*rows, fillvalue=math.nan))).T for rows in zip(*evaluations.values(), strict=True)
    )
    archive = io.BytesIO()
    np.savez(archive, timesteps=list(evaluations), results=returns, ep_lengths=lengths)
    return archive.getvalue()


def earlier_evaluations(path: Path) -> dict[int, Evaluation]:
    """Read the evaluations in a file by step, the last one of equal steps; empty if there is no file.

    Raises UsageError if the file cannot be read, or holds something else.
    """
    try:
        with refused(path, "file of evaluations", broken="move it away to go on without it"):
            return _evaluations(read_npz(path, EVALUATIONS_LIMIT))
    except FileNotFoundError:
        return {}


def _evaluations(kept: Mapping[str, NDArray[Any]]) -> dict[int, Evaluation]:
    steps, results, lengths = (kept.get(name, np.zeros(())) for name in ("timesteps", "results", "ep_lengths"))
    is_one_run = steps.ndim == 1 and results.ndim == 2 and results.shape == lengths.shape and 0 not in results.shape
    is_numeric = steps.dtype.kind in "iu" and lengths.dtype.kind in "iuf" and results.dtype.kind == "f"
    if is_one_run and is_numeric and len(steps) == len(results):
        is_played = np.isfinite(results)
        is_complete = is_played.any(axis=1).all() and (is_played == np.isfinite(lengths)).all()
        if is_complete and not np.isinf(results).any():
            return {
                int(step): (results[row, is_played[row]].tolist(), lengths[row, is_played[row]].astype(int).tolist())
                for row, step in enumerate(steps)
            }
    raise Unreadable("its arrays are no evaluations")


class EpisodeMetrics(BaseCallback):
    """Logs reward components and further metrics of the episodes that ended in a rollout.

    ``episode_reward/*``: each component, summed over an episode and averaged over the episodes; further metrics are
    those that ``metrics`` computes from the episodes' summaries.
    """

    def __init__(self, metrics: Callable[[Sequence[EpisodeSummary]], dict[str, float]]) -> None:
        super().__init__()
        self._metrics = metrics
        self._ended: list[EpisodeSummary] = []

    def _on_step(self) -> bool:
        self._ended += [info["episode_stats"] for info in self.locals["infos"] if "episode_stats" in info]
        return True

    def _on_rollout_end(self) -> None:
        ended, self._ended = self._ended, []
        if not ended:
            return
        for name in ended[0]["reward_breakdown"]:
            earned = [stats["reward_breakdown"][name] for stats in ended]
            self.logger.record(f"episode_reward/{name}", float(np.mean(earned)))
        for name, value in self._metrics(ended).items():
            self.logger.record(name, value)


class ProgressAndStopCallback(BaseCallback):
    """Moves the progress bar between updates, and ends training when the run is asked to stop."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run, self._shown = run, 0.0

    def _on_step(self) -> bool:
        self._run.stop.begun()  # the first step, with all compilation, is done
        if time.monotonic() - self._shown > _TICK_SECONDS:
            self._shown = time.monotonic()
            self._run.advance(self.num_timesteps)
        return not self._run.stop.requested


class RunWriter(KVWriter):
    """Writes what Stable-Baselines3 logs of an update to the run, also under the names of the trainer in JAX.

    ``seconds`` continues from earlier sessions, and ``steps_per_second`` covers the steps since the last row, or since
    the writer was created.
    """

    def __init__(self, run: Run, first_step: int, seconds: float = 0.0) -> None:
        self._run, self._first_step = run, first_step
        self._step, self.seconds, self._time = first_step, seconds, time.perf_counter()
        self._latest: dict[str, float] = {}

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Take one dump of the logger."""
        # an evaluation makes a dump of its own, before that of its rollout
        self._latest |= {
            name: float(value) for name, value in key_values.items() if isinstance(value, (int, float, np.number))
        }
        if "rollout/ep_rew_mean" not in key_values or step == self._first_step:
            return
        latest, self._latest = self._latest, {}
        # measured here, since the clock of Stable-Baselines3 shows whole seconds
        nothing, now, steps = float("nan"), time.perf_counter(), step - self._step
        elapsed, self._step, self._time = now - self._time, step, now
        self.seconds += elapsed
        self._run.write(
            {
                "timesteps": step,
                "seconds": self.seconds,
                "steps_per_second": steps / elapsed,
                "train/mean_episode_return": latest["rollout/ep_rew_mean"],
                "train/mean_episode_length": latest["rollout/ep_len_mean"],
                "train/entropy": -latest.get("train/entropy_loss", nothing),
                "train/clip_frac": latest.get("train/clip_fraction", nothing),
                **latest,
            }
        )

    def close(self) -> None:
        """Do nothing: the owner of the run closes it."""

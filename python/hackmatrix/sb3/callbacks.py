"""What happens beside the updates: saving, evaluating, and telling how episodes went."""

import time
from pathlib import Path
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter

from hackmatrix.atomic import replacing
from hackmatrix.purejaxrl.logging import ConsoleProgress, LearningCurve
from hackmatrix.sb3.vec_env import HackMatrixVecEnv
from hackmatrix.wandb_run import WandbRun

BEST_MODEL = "best_model.zip"
EVALUATIONS = "evaluations.npz"
_TICK_SECONDS = 0.25
_NUMBERS = (int, float, np.number)


def save_model(model: MaskablePPO, path: Path) -> Path:
    """Write a model so that ``path`` is never half a file; raises OSError where it cannot be written."""
    with replacing(path) as file:
        model.save(file)
    return path


class Checkpoints(BaseCallback):
    """Writes ``checkpoint_{steps}_steps.zip`` every ``frequency`` steps of all games together."""

    def __init__(self, folder: Path, frequency: int) -> None:
        super().__init__()
        self._folder, self._frequency = folder, frequency
        self._next = frequency

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self._frequency

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next += self._frequency
            self.save()
        return True

    def save(self) -> Path:
        """Write the model as it is."""
        return save_model(self.model, self._folder / f"checkpoint_{self.model.num_timesteps}_steps.zip")  # type: ignore[arg-type]


class Evaluations(MaskableEvalCallback):
    """Plays the same games with the same masks every ``frequency`` steps and keeps the best model.

    The games are those of ``seed``, seed + 1, …; what earlier evaluations of the run found is gone on with.
    """

    def __init__(self, env: HackMatrixVecEnv, folder: Path, *, frequency: int, episodes: int, seed: int) -> None:
        super().__init__(
            env,
            n_eval_episodes=episodes,
            eval_freq=max(1, frequency),
            log_path=str(folder),
            deterministic=True,
            verbose=0,
            warn=False,
        )
        self._folder, self._seed = folder, seed
        self._frequency, self._next = frequency, frequency
        earlier = folder / EVALUATIONS
        if earlier.exists():
            with np.load(earlier) as kept:
                self.evaluations_timesteps = kept["timesteps"].tolist()
                self.evaluations_results = kept["results"].tolist()
                self.evaluations_length = kept["ep_lengths"].tolist()
            self.best_mean_reward = float(np.mean(self.evaluations_results, axis=1).max())

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self._frequency

    def _on_step(self) -> bool:
        if self.num_timesteps < self._next:
            return True
        self._next += self._frequency
        self.n_calls = self.eval_freq  # the parent evaluates in calls that it counts itself
        best = self.best_mean_reward
        self.eval_env.seed(self._seed)
        goes_on = super()._on_step()
        if self.best_mean_reward > best:
            save_model(self.model, self._folder / BEST_MODEL)  # type: ignore[arg-type]
        return goes_on


class EpisodeMetrics(BaseCallback):
    """Records of the episodes that ended in a rollout what they consisted of.

    ``episode_reward/*``: each component, summed over an episode, mean of the episodes. ``actions/*_frac``: share
    of moves, siphons and programs. ``programs/*``: uses of each program in an episode. ``stats/highest_stage``:
    the highest stage of them (9: won).
    """

    def __init__(self) -> None:
        super().__init__()
        self._ended: list[dict[str, Any]] = []

    def _on_step(self) -> bool:
        self._ended += [info["episode_stats"] for info in self.locals["infos"] if "episode_stats" in info]
        return True

    def _on_rollout_end(self) -> None:
        ended, self._ended = self._ended, []
        if not ended:
            return
        for group, name in (("episode_reward", "reward_breakdown"), ("programs", "programs_used")):
            for key in ended[0][name]:
                self.logger.record(f"{group}/{key}", float(np.mean([stats[name][key] for stats in ended])))
        counts = {kind: sum(stats["actions"][kind] for stats in ended) for kind in ended[0]["actions"]}
        for kind, count in counts.items():
            self.logger.record(f"actions/{kind}_frac", count / sum(counts.values()))
        self.logger.record("stats/highest_stage", max(stats["highest_stage"] for stats in ended))


class Ticks(BaseCallback):
    """Moves the progress bar between the updates."""

    def __init__(self, progress: ConsoleProgress) -> None:
        super().__init__()
        self._progress, self._shown = progress, 0.0

    def _on_step(self) -> bool:
        if time.monotonic() - self._shown > _TICK_SECONDS:
            self._shown = time.monotonic()
            self._progress.advance(self.num_timesteps)
        return True


class Headlines(KVWriter):
    """Hands what Stable-Baselines3 logs of an update to the progress display, the curve and W&B."""

    def __init__(self, progress: ConsoleProgress, curve: LearningCurve, wandb: WandbRun, first_step: int) -> None:
        self._progress, self._curve, self._wandb, self._first_step = progress, curve, wandb, first_step
        self._latest: dict[str, float] = {}

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Take one dump of the logger."""
        numbers = {
            name: float(value) for name, value in key_values.items() if isinstance(value, (int, float, np.number))
        }
        self._wandb.write({**numbers, "timesteps": step})
        self._latest |= numbers  # an evaluation may have logged the update's figures before the rollout's
        if "rollout/ep_rew_mean" not in numbers or step == self._first_step:
            return
        share = step / (step - self._first_step)
        latest, nothing = self._latest, float("nan")
        metrics = {
            "timesteps": float(step),
            # as if the whole run had gone at this session's pace
            "seconds": numbers["time/time_elapsed"] * share,
            "steps_per_second": (step - self._first_step) / max(numbers["time/time_elapsed"], 1e-9),
            "train/mean_episode_return": numbers["rollout/ep_rew_mean"],
            "train/mean_episode_length": numbers["rollout/ep_len_mean"],
            "train/entropy": -latest.get("train/entropy_loss", nothing),
            "train/approx_kl": latest.get("train/approx_kl", nothing),
            "train/clip_frac": latest.get("train/clip_fraction", nothing),
            "stats/highest_stage": latest.get("stats/highest_stage", nothing),
        }
        self._progress.write(metrics)
        self._curve.write(metrics)

    def close(self) -> None:
        """Nothing: those it hands on to are closed by their owner."""

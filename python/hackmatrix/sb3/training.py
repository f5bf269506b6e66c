"""Train MaskablePPO on the Swift engine, into one folder per run."""

import contextlib
import signal
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import torch
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import CallbackList
from stable_baselines3.common.logger import CSVOutputFormat, JSONOutputFormat, Logger, TensorBoardOutputFormat

from hackmatrix.atomic import write_json
from hackmatrix.purejaxrl.logging import ConsoleProgress, LearningCurve
from hackmatrix.sb3.callbacks import Checkpoints, EpisodeMetrics, Evaluations, Headlines, Ticks, save_model
from hackmatrix.sb3.vec_env import HackMatrixVecEnv
from hackmatrix.training_config import POLICY, TrainingConfig
from hackmatrix.wandb_run import WandbRun, kept_run_id
from parity.errors import ParityError, UsageError

FINAL_MODEL = "final_model.zip"
CONFIG = "config.json"
CURVE = "learning_curve.png"
_EVALUATION_SEED = 1_000_000
_MOST_EVALUATION_GAMES = 10


class Tracking(NamedTuple):
    """Where metrics go besides the run's folder."""

    project: str = "hackmatrix"
    entity: str | None = None
    is_wanted: bool = True


class Outcome(NamedTuple):
    """How a run ended."""

    model: Path
    """The last model written."""
    timesteps: int
    was_interrupted: bool


def train(
    config: TrainingConfig,
    folder: Path,
    *,
    resume: Path | None = None,
    device: str = "auto",
    engine: str = "swift",
    tracking: Tracking = Tracking(),  # noqa: B008 - immutable
    console: Console | None = None,
) -> Outcome:
    """Train until ``config.timesteps`` steps are done in all, or until Ctrl+C or SIGTERM, which save.

    Args:
        config: the settings; with ``resume``, those of the optimizer are the saved ones.
        folder: an existing folder for models, metrics and the curve.
        resume: a model to go on with; its steps and schedules continue.
        device: of torch: auto, cpu, cuda, …
        engine: ``swift`` or ``jax``.
        tracking: W&B.
        console: where progress is shown.

    Raises:
        UsageError: the settings, the device or the model to resume cannot be used, or it has had all its steps.
        SwiftEngineError: the engine is not built, or fails.
        ParityError: the policy is no longer a number.
    """
    console = console or Console()
    _check_device(device)
    with contextlib.ExitStack() as stack:
        env = HackMatrixVecEnv(config.num_envs, engine=engine, seed=config.seed)
        stack.callback(env.close)
        model = _model(config, env, device, resume)
        first_step = model.num_timesteps
        if resume is not None:
            if first_step >= config.timesteps:
                raise UsageError(
                    f"{resume} has had {first_step:,} steps already: ask for more than that with --timesteps."
                )
            env.seed(config.seed + first_step)  # other games than those it has seen
        games = min(_MOST_EVALUATION_GAMES, config.eval_episodes)
        eval_env = HackMatrixVecEnv(games, engine=engine, max_episode_steps=config.eval_max_steps)
        stack.callback(eval_env.close)

        settings = {**asdict(config), "engine": engine, "device": str(model.device), "policy": POLICY}
        wandb = _tracked(tracking, folder, settings, console)
        stack.callback(wandb.close)
        write_json(folder / CONFIG, {**settings, "wandb_id": wandb.run_id})
        rollout = model.n_steps * config.num_envs
        rollouts = -(-(config.timesteps - first_step) // rollout)  # learning ends with a whole one
        progress, curve = ConsoleProgress(first_step + rollouts * rollout, console), LearningCurve()
        headlines = Headlines(progress, curve, wandb, first_step)
        model.set_logger(_logger(folder, first_step, headlines))
        checkpoints = Checkpoints(folder, config.save_freq)
        evaluations = Evaluations(
            eval_env, folder, frequency=config.eval_freq, episodes=config.eval_episodes, seed=_EVALUATION_SEED
        )
        callbacks = CallbackList([EpisodeMetrics(), checkpoints, evaluations, Ticks(progress)])
        was_interrupted = False
        stack.enter_context(progress)
        stack.enter_context(_interruptible())
        try:
            model.learn(config.timesteps - first_step, callbacks, reset_num_timesteps=resume is None)
            last = save_model(model, folder / FINAL_MODEL)
        except KeyboardInterrupt:
            was_interrupted = True
            last = checkpoints.save()
        except ValueError as error:
            if "invalid values" not in str(error):  # torch's word for a distribution that is not one
                raise
            raise ParityError(
                "Training diverged: the policy is no longer a number. Start again with a lower --learning-rate."
            ) from error
        if curve.has_points:
            curve.save(folder / CURVE, f"HackMatrix, MaskablePPO: {folder.name}")
    return Outcome(last, model.num_timesteps, was_interrupted)


def load_model(path: Path, env: HackMatrixVecEnv | None = None, device: str = "auto") -> MaskablePPO:
    """A saved model. Raises UsageError where the file is none, or is one of another game."""
    if not path.exists():
        raise UsageError(f"There is no model {path}: name a .zip file that training wrote.")
    try:
        return MaskablePPO.load(path, env=env, device=device)
    except (zipfile.BadZipFile, ValueError, KeyError, AttributeError, RuntimeError, EOFError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UsageError(f"{path} is no model of HackMatrix that this version can load ({reason}).") from error


def _model(config: TrainingConfig, env: HackMatrixVecEnv, device: str, resume: Path | None) -> MaskablePPO:
    if resume is not None:
        return load_model(resume, env, device)
    if min(config.num_envs * config.n_steps, config.batch_size) < 2:
        raise UsageError("A rollout and a minibatch need two steps at least: raise --n-steps or --batch-size.")
    return MaskablePPO(POLICY, env, device=device, **config.ppo())


def _check_device(device: str) -> None:
    """Stable-Baselines3 would take the CPU without a word where a GPU is missing."""
    if device == "auto":
        return
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"The device {device!r} cannot be used ({str(error).splitlines()[0]}).") from error


def _tracked(tracking: Tracking, folder: Path, settings: dict[str, Any], console: Console) -> WandbRun:
    def say(line: str) -> None:
        console.print(line, soft_wrap=True, highlight=False, markup=False)

    return WandbRun(
        say,
        is_wanted=tracking.is_wanted,
        folder=folder,
        project=tracking.project,
        entity=tracking.entity,
        name=folder.name,
        config=settings,
        run_id=kept_run_id(folder / CONFIG),
    )


def _logger(folder: Path, first_step: int, headlines: Headlines) -> Logger:
    """CSV, JSON lines and TensorBoard files; a resumed run begins new ones, named after its first step."""
    name = f"progress_{first_step}" if first_step else "progress"
    return Logger(
        str(folder),
        [
            CSVOutputFormat(str(folder / f"{name}.csv")),
            JSONOutputFormat(str(folder / f"{name}.jsonl")),
            TensorBoardOutputFormat(str(folder / "tensorboard")),
            headlines,
        ],
    )


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM counts as Ctrl+C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    # SIGINT too: a shell's background jobs are started with it ignored
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

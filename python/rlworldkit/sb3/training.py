"""Training MaskablePPO as one call, from a command line or a notebook."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import CallbackList
from stable_baselines3.common.logger import Logger

from rlparity import World
from rlparity.core.prices import changed_prices
from rlparity.errors import ParityError, UsageError
from rlparity.io.atomic_write import write_whole
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.runs.folder import CONFIG, METRICS, PRICES, read_saved_config, saved_prices
from rlworldkit.runs.retrying_writer import reason
from rlworldkit.runs.run import Progress, Run, TrainingDiverged, TrainResult
from rlworldkit.runs.sinks import read_csv
from rlworldkit.sb3.callbacks import Checkpoints, EpisodeMetrics, Evaluations, ProgressAndStopCallback, RunWriter
from rlworldkit.sb3.config import RATES, MaskablePPOConfig
from rlworldkit.sb3.model_file import timesteps_of
from rlworldkit.sb3.models import load_model, model_content, policy_for, settings_of
from rlworldkit.score import score_of

__all__ = ["FINAL_MODEL", "load_model", "train"]

FINAL_MODEL = "final_model.zip"
_EVALUATION_SEED = 1_000_000
_MOST_EVALUATION_GAMES = 10


def train(
    config: MaskablePPOConfig,
    world: World,
    run: Run,
    *,
    resume: Path | None = None,
    changes: Mapping[str, Any] | None = None,
    device: str = "auto",
    engine: str | None = None,
    trust: bool = False,
    notes: Mapping[str, Any] = {},
) -> TrainResult:
    """Train until ``config.timesteps`` steps are done in all, or until the run is asked to stop, and save the model.

    Args:
        config: the settings; with ``resume``, its arguments of MaskablePPO are replaced by those that the model was
            saved with, except for rates that are functions, which no file holds.
        world: the world.
        run: a run with a folder, whose ``step`` is ``timesteps``.
        resume: a model to continue; its steps and schedules continue.
        changes: arguments of MaskablePPO that override those that ``resume`` was saved with.
        device: a torch device: auto, cpu, cuda, …
        engine: the name of one of the world's engines; by default the first.
        trust: allow unpickling ``resume``, which can run arbitrary code; see `load_model`.
        notes: plain values to keep with the settings in ``config.json``.

    Raises:
        UsageError: the settings, the device or the model to resume cannot be used, or it has done all its steps.
        EngineError: the engine cannot be started, or fails.
        ParityError: training diverged, or the last model cannot be written.
    """
    if run.folder is None:
        raise UsageError("MaskablePPO writes its models into a folder: give the run one.")
    config = config.validated()
    _check_device(device)
    engine = engine or next(iter(world.engines))
    with run, closing(WorldVecEnv(world, config.num_envs, engine=engine, seed=config.seed)) as env:
        if resume:
            rates = {name: getattr(config, name) for name in RATES}
            model = load_model(resume, env, device, rates=rates, changes=changes, trust=trust)
            config = settings_of(model, config).validated()
            env.seed(config.seed + model.num_timesteps)  # other games than in earlier sessions
        else:
            model = MaskablePPO(policy_for(env.observation_space), env, device=device, **config.ppo())
        config.rollouts_after(model.num_timesteps)  # raises if no rollout is left
        games = min(_MOST_EVALUATION_GAMES, config.eval_episodes)
        with closing(WorldVecEnv(world, games, engine=engine, max_episode_steps=config.eval_max_steps)) as eval_env:
            origin = f"going on with {resume}" if resume else f"seed {config.seed}"
            run.print_line(
                f"Training MaskablePPO for at most {config.timesteps:,} steps in {config.num_envs} games of the "
                f"{engine} engine, {origin}, into {run.folder}."
            )
            return _learn(model, config, world, run, run.folder, eval_env, engine, notes)


def _learn(
    model: MaskablePPO,
    config: MaskablePPOConfig,
    world: World,
    run: Run,
    folder: Path,
    eval_env: WorldVecEnv,
    engine: str,
    notes: Mapping[str, Any],
) -> TrainResult:
    """Train a model from its current step, and save it."""
    first, batch = model.num_timesteps, config.n_steps * config.num_envs
    steps = batch * config.rollouts_after(first)
    seconds = _earlier_seconds(folder / METRICS, first) if first else 0.0
    earlier_prices = saved_prices(read_saved_config(folder), folder / CONFIG)
    counted = first if earlier_prices == changed_prices(world) else -1  # none if prices differ
    evaluations = Evaluations(run, folder, eval_env, config, seed=_EVALUATION_SEED, after=counted)
    policy = policy_for(eval_env.observation_space)
    settings = {**asdict(config), "engine": engine, "device": str(model.device), "policy": policy, **notes}
    settings[PRICES] = changed_prices(world)
    later = [path for path in folder.glob("*.zip") if timesteps_of(path) > first]
    run.begin(settings, first + steps, after=first, is_resumed=first > 0, later=later)
    writer, checkpoints = RunWriter(run, first, seconds), Checkpoints(run, folder, config.save_freq)
    model.set_logger(Logger(str(folder), [writer]))
    callbacks = [EpisodeMetrics(score_of(world).metrics), checkpoints, evaluations, ProgressAndStopCallback(run)]
    try:
        model.learn(steps, CallbackList(callbacks), reset_num_timesteps=not first)
    except ValueError as error:
        if "invalid values" not in str(error):  # torch's message for an invalid distribution
            raise
        raise TrainingDiverged(
            "Training diverged: the policy is no longer a number. Start again with a lower --learning-rate."
        ) from error
    last = checkpoints.path if run.stop.requested else folder / FINAL_MODEL
    try:
        write_whole(last, model_content(model))
    except OSError as error:
        raise ParityError(
            f"{last} could not be written ({reason(error)}): make room, and --resume the last checkpoint."
        ) from error
    since, done = Progress(first // batch, first, seconds), model.num_timesteps
    return TrainResult(Progress(done // batch, done, writer.seconds), since, [last])


def _earlier_seconds(path: Path, step: int) -> float:
    """Seconds of training up to ``step``, from the rows in a file of metrics; 0 if there are none."""
    rows = [row for row in read_csv(path) if row["timesteps"] <= step]
    return max((row.get("seconds", 0.0) for row in rows), default=0.0)


def _check_device(device: str) -> None:
    """Raise UsageError if there is no such device, since Stable-Baselines3 would silently use the CPU."""
    try:
        torch.empty(0, device=None if device == "auto" else device)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"The device {device!r} cannot be used ({str(error).splitlines()[0]}).") from error

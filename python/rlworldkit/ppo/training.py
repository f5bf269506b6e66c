"""Training as one call, from a command line or a notebook."""

import contextlib
import dataclasses
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console

from rlparity.errors import ParityError, UsageError, is_out_of_memory
from rlparity.io.console import counted
from rlparity.io.safe_read import is_object
from rlworldkit.jax.env import JaxEnv
from rlworldkit.jax.switches import check_recorded, recorded_switches, training_switches
from rlworldkit.jax.trace_cache import reuse_text
from rlworldkit.ppo import parallel
from rlworldkit.ppo.checkpoints import (
    Checkpoint,
    Log,
    LoopState,
    check_fits,
    check_metrics,
    keeps_games,
    restored,
)
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.loop import TrainJob, training_loop
from rlworldkit.ppo.params import later_files, misfit
from rlworldkit.ppo.ppo import UpdateStats
from rlworldkit.ppo.program import CompiledTraining, TrainingLoop, compile_training, run_loops
from rlworldkit.ppo.state import RunnerState, init_runner
from rlworldkit.runs.console import working
from rlworldkit.runs.folder import BEGAN, began, now
from rlworldkit.runs.run import Progress, Run, TrainResult

JAX = "jax"
"""Key of a run's settings that holds JAX's version and switches."""
_PER_UPDATE = ("num_envs", "num_steps", "num_minibatches", "update_epochs")
"""Settings that determine the number of gradient steps per step of the games."""


@contextlib.contextmanager
def _one_sentence_for_memory() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise ParityError(
            "Training needs more memory than there is: give fewer --num-envs, or more --num-minibatches."
        ) from error


@_one_sentence_for_memory()
def train(
    config: TrainConfig,
    env: JaxEnv,
    run: Run | None = None,
    *,
    devices: Sequence[jax.Device] | None = None,
    **job: Any,  # noqa: ANN401 - of several types
) -> TrainResult:
    """Train until ``config.total_timesteps`` steps are done, or until the run is asked to stop.

    Without a ``run`` nothing is printed or written; a given one is entered here. Settings of the process do not change.
    If several processes train together, each calls this, and only the first one's run may have a folder.

    devices: those to train on; by default all. job: further fields of `TrainJob`.

    Raises:
        UsageError: the settings are invalid, or ``start`` has done all steps already.
        TrainingDiverged: the loss is NaN or infinite.
        ParityError: ``initial`` is of another network, or there is not enough memory.
    """
    run = run or Run()
    with run:
        (result,) = train_together([TrainJob(config, env, run, **job)], run.console, devices)
        if isinstance(result, Exception):
            raise result
        return result


@training_switches()
@_one_sentence_for_memory()
def train_together(
    jobs: Sequence[TrainJob], console: Console | None = None, devices: Sequence[jax.Device] | None = None
) -> list[TrainResult | Exception]:
    """Train runs that differ only in seed, prices and outputs, with their updates in one compiled program.

    Each run has the result that ``train`` would give. A run that fails does not end the others: its result is the
    exception. Raises UsageError if the settings cannot be used.

    console: where compilation is shown.
    """
    config, env = jobs[0].config.validated(), jobs[0].env
    if any(dataclasses.replace(job.config, seed=config.seed) != config for job in jobs):
        raise UsageError(
            "Runs in one program must differ in seed and prices alone: give all settings that they began with, or "
            "`--seeds-mode processes`."
        )
    with_games = [_keeps_games(job) for job in jobs]
    mesh = parallel.mesh_of_all_devices(config.num_envs, devices)
    print_line = jobs[0].run.print_line if len(jobs) == 1 else lambda line: None
    print_line(_headline(jobs[0], devices or jax.devices()))
    with working(console or Console(quiet=True), f"Compiling ({reuse_text()})"):
        compiled = compile_training(config, env, mesh, tuple(job.config.seed for job in jobs))
    print_line(f"Compiled in {compiled.compile_seconds:.1f} s.")
    loops = [_session(*each, compiled) for each in zip(jobs, compiled.runners, with_games, strict=True)]
    return run_loops(compiled.train, loops, config, np.stack([job.env.prices for job in jobs]))


def _keeps_games(job: TrainJob) -> bool:
    """Whether a run continues the games of its checkpoint; raises as ``train`` does if the checkpoint does not fit."""
    config, start = job.config, job.start
    if start is None:
        return False
    check_steps_left(config, start)
    _check_schedule(config, start)
    if is_object(recorded := start.config.get(JAX)):
        check_recorded(recorded, start.path)
    shapes = jax.eval_shape(functools.partial(init_runner, config, job.env))
    check_fits(start, shapes, job.env)
    with_games = keeps_games(start, shapes, config)
    if with_games and start.config.get("seed", config.seed) != config.seed:
        raise UsageError(
            f"{start.path} resumes its own games and random numbers, which are those of seed "
            f"{start.config['seed']}: leave --seed out, or start a new run."
        )
    return with_games


def _session(
    job: TrainJob, fresh: RunnerState, with_games: bool, compiled: CompiledTraining
) -> TrainingLoop[TrainResult]:
    """Training loop of one run, from its first state to its last save."""
    run, done = job.run, job.done
    with run:
        last, files = _first_state(job, compiled.stats, fresh, with_games), list[Path]()
        if not parallel.any_process(run.stop.requested):  # else files of an earlier session stay as they are
            settings = _begin(job)
            # all processes take part in a save, though only the first has a folder
            saves = parallel.agreed(float(run.folder is not None)) > 0
            job.saver.begin(run, job.env, settings)
            last = yield from training_loop(job, last, job.saver if saves else None)
            if saves and last.progress.updates > done.updates:
                files = job.saver.save(last)
        params = last.runner.train_state.playable_params
        return TrainResult(last.progress, done, files, compiled.compile_seconds, params)


def _begin(job: TrainJob) -> dict[str, Any]:
    """Open the run's files; return its settings."""
    config, run, start, done = job.config, job.run, job.start, job.done
    # files of later updates, except for the checkpoint to resume from, whatever its name
    later = later_files(run.folder, done.updates) if run.folder else []
    later = [path for path in later if start is None or path.resolve() != start.path.resolve()]
    settings: dict[str, Any] = {
        "run_name": run.folder and run.folder.name,
        BEGAN: now() if later else _began(run.folder, start),
        **dataclasses.asdict(config),
        JAX: recorded_switches(),
        **job.notes,
    }
    total = done.timesteps + job.updates_left * config.batch_size
    run.begin(settings, total, after=done.updates, is_resumed=start is not None, later=later)
    return settings


def _began(folder: Path | None, start: Checkpoint | None) -> str:
    """Start time of the run: now, unless it continues in its folder.

    The folder's time may be later than the checkpoint's, since going back to an old checkpoint renews it.
    """
    if start is None or folder is None or start.path.parent.resolve() != folder.resolve():
        return now()
    kept = start.config.get(BEGAN)
    return max(began(folder), kept if isinstance(kept, str) else "") or now()


def _headline(job: TrainJob, devices: Sequence[jax.Device]) -> str:
    config, start = job.config, job.start
    on = devices[0].device_kind if len(devices) == 1 else f"{len(devices)} x {devices[0].device_kind}"
    before = f", after the {start.progress.updates:,} of {start.path}" if start else ""
    if job.initial:
        before = f", from the parameters in {job.initial.path}"
    return (
        f"Training {counted(job.updates_left, 'update')} of {counted(config.num_envs, 'game')} x "
        f"{counted(config.num_steps, 'step')} ({counted(config.update_epochs, 'epoch')} of "
        f"{counted(config.num_minibatches, 'minibatch', 'es')}) on {on}, "
        f"seed {config.seed}{before}."
    )


def _first_state(job: TrainJob, stats: UpdateStats, runner: RunnerState, with_games: bool) -> LoopState:
    start, initial = job.start, job.initial
    if start is None:
        if initial:
            state = runner.train_state
            if jax.tree.map(jnp.shape, state.params) != jax.tree.map(jnp.shape, initial.params):
                raise misfit(initial.path)
            params = jax.tree.map(lambda old, new: parallel.placed(new, old.sharding), state.params, initial.params)
            runner = runner._replace(train_state=state.replace(params=params))
        return LoopState(runner, Progress(), Log())
    runner = restored(start, runner, with_games=with_games)
    check_metrics(start, stats)
    if with_games:
        return LoopState(runner, start.progress, start.log)
    job.run.print_line(
        f"{start.path} holds other games than this run plays: network and optimizer are restored, new games begin, and "
        "the optimizer's momentum is that of the old batch."
    )
    return LoopState(runner, start.progress, Log(start.progress))  # unlogged metrics are of the other games


def check_steps_left(config: TrainConfig, start: Checkpoint) -> None:
    """Raise UsageError if a checkpoint has already done all requested steps."""
    done = start.progress
    if config.total_timesteps - done.timesteps < config.batch_size:
        raise UsageError(f"{start.path} is complete with {done.timesteps:,} steps: raise --total-timesteps.")


def _check_schedule(config: TrainConfig, start: Checkpoint) -> None:
    """Raise UsageError if there are schedules, and the checkpoint's run had other gradient steps per update."""
    before = start.config
    changed = [name for name in _PER_UPDATE if before.get(name) != getattr(config, name)]
    if config.schedules and changed:
        raise UsageError(
            f"{start.path} has a schedule ({' and '.join(config.schedules)}) over its gradient steps, whose number "
            f"{' and '.join(changed)} would change: resume with the same settings, or start a new run."
        )

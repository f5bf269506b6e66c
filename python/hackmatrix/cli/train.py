"""``hackmatrix train``: train an agent on the JAX engine with masked PPO."""

import argparse
import contextlib
import dataclasses
import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hackmatrix.atomic import write_json
from hackmatrix.cli.parser import fail
from hackmatrix.cli.runs import new_run_folder, run_folder, typed_command
from hackmatrix.cli.train_flags import FLAGS, train_parser
from hackmatrix.cli.xla import keep_compiled_programs, prefer_wide_vectors
from hackmatrix.purejaxrl.config import TrainConfig, auto_scale_for_batch_size, auto_tune_for_device
from parity.errors import ParityError, UsageError

if TYPE_CHECKING:
    from hackmatrix.purejaxrl.checkpointing import Checkpoint
    from hackmatrix.purejaxrl.training_loop import Sink
    from hackmatrix.wandb_run import WandbRun

INTERRUPTED_EXIT_CODE = 130
FAILED_EXIT_CODE = 1


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 if training failed, 130 if stopped before there were results.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
    """
    given = sys.argv[1:] if argv is None else argv
    arguments = train_parser().parse_args(given)
    prefer_wide_vectors()
    keep_compiled_programs()
    try:
        is_first = _joined(arguments)
        start = _resumed(arguments)
        config = _config_of(arguments, {} if start is None else start.checkpoint.config)
        folder = _folder_of(arguments, config, start) if is_first else None
        return _train(config, arguments, folder, start, next_command(given, 10 * config.total_timesteps))
    except UsageError as error:
        fail(error)
    except ParityError as error:
        print(error, file=sys.stderr)
        return FAILED_EXIT_CODE


class _Start(NamedTuple):
    """The checkpoint that a run goes on from."""

    path: Path
    checkpoint: "Checkpoint"


def _joined(arguments: argparse.Namespace) -> bool:
    """Join the other processes, if there are any; whether this is the first."""
    if not arguments.distributed:
        return True
    from hackmatrix.purejaxrl import parallel

    parallel.join_processes(arguments.coordinator, arguments.num_processes, arguments.process_id)
    return parallel.is_first_process()


def _resumed(arguments: argparse.Namespace) -> _Start | None:
    """Read the checkpoint to go on from, if one is named."""
    if arguments.resume is None:
        if arguments.rewind:
            raise UsageError("--rewind goes with --resume: name a checkpoint to rewind to.")
        return None
    # Imported only now: a mistaken command line should not have to wait for JAX.
    from hackmatrix.purejaxrl.checkpointing import LATEST, CheckpointError, latest_checkpoint, read_checkpoint

    try:
        if arguments.resume != LATEST:
            return _Start(Path(arguments.resume), read_checkpoint(Path(arguments.resume)))
        path, checkpoint, faults = latest_checkpoint(arguments.checkpoint_dir)
        for fault in faults:
            print(f"Passed over: {fault}", file=sys.stderr)
        return _Start(path, checkpoint)
    except CheckpointError as error:
        raise UsageError(str(error)) from error


def _config_of(arguments: argparse.Namespace, kept: dict[str, Any]) -> TrainConfig:
    """The flags given, over the settings of the checkpoint, over the defaults."""
    given = {field: getattr(arguments, field) for _, _, field, _, _ in FLAGS if getattr(arguments, field) is not None}
    fields = {field.name for field in dataclasses.fields(TrainConfig)}
    config = TrainConfig(**{name: value for name, value in kept.items() if name in fields} | given)
    if arguments.auto_tune:
        config = auto_tune_for_device(config, explicit=given)
    is_same_batch = kept and (kept["num_envs"], kept["num_steps"]) == (config.num_envs, config.num_steps)
    return (config if is_same_batch else auto_scale_for_batch_size(config, explicit=given)).validated()


def _folder_of(arguments: argparse.Namespace, config: TrainConfig, start: _Start | None) -> Path:
    """A new run's folder, or the one that the checkpoint lies in."""
    if start is not None and not arguments.run_name:
        done = start.checkpoint.progress
        if config.total_timesteps - done.timesteps < config.batch_size:
            raise UsageError(f"{start.path} has had its {done.timesteps:,} steps: ask for more with --total-timesteps.")
        return start.path.parent
    if arguments.run_name:
        return run_folder(arguments.checkpoint_dir, arguments.run_name, "--checkpoint-dir")
    suffix = f"-{arguments.run_suffix}" if arguments.run_suffix else ""
    return new_run_folder(arguments.checkpoint_dir, "hackmatrix", config.seed, suffix)


def next_command(given: Sequence[str], total_timesteps: int) -> str:
    """The command for a longer run with the same settings under a new name, as it can be typed here."""
    _, kept = _replaced_flags().parse_known_args(given)
    return typed_command("train", *kept, "--total-timesteps", str(total_timesteps))


def _replaced_flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=True)
    parser.add_argument("--total-timesteps")
    parser.add_argument("--run-name")
    parser.add_argument("--resume")
    parser.add_argument("--rewind", action="store_true")
    return parser


def _train(
    config: TrainConfig, arguments: argparse.Namespace, folder: Path | None, start: _Start | None, next_run: str
) -> int:
    """Train; without a folder, as one of the processes that neither write nor speak."""
    # Imported only now: a mistaken command line should not have to wait for JAX.
    import jax
    from rich.console import Console

    from hackmatrix.purejaxrl import parallel, training_loop
    from hackmatrix.purejaxrl.checkpointing import check_fits, restored
    from hackmatrix.purejaxrl.env_wrapper import HackMatrixGymnax
    from hackmatrix.purejaxrl.logging import ConsoleProgress, compiling
    from hackmatrix.purejaxrl.progress import Progress
    from hackmatrix.purejaxrl.saving import Saver
    from hackmatrix.purejaxrl.train import init_runner

    console = Console(quiet=folder is None)
    say = functools.partial(console.print, soft_wrap=True, highlight=False, markup=False)
    devices, done = jax.devices(), start.checkpoint.progress if start else Progress()
    on = devices[0].device_kind if len(devices) == 1 else f"{len(devices)} x {devices[0].device_kind}"
    updates = (config.total_timesteps - done.timesteps) // config.batch_size
    say(
        f"Training {updates:,} updates of {config.num_envs:,} games x {config.num_steps:,} steps "
        f"({config.update_epochs} epochs of {config.num_minibatches} minibatches) on {on}, "
        f"seed {config.seed}" + (f", after the {done.updates:,} of {start.path}." if start else ".")
    )
    max_steps = arguments.max_steps or (start.checkpoint.config.get("max_steps") if start else None)
    settings = {"run_name": folder and folder.name, "max_steps": max_steps, **dataclasses.asdict(config)}

    env = HackMatrixGymnax(max_steps=max_steps, mesh=parallel.mesh_of_all_devices(config.num_envs))
    with contextlib.ExitStack() as stack:
        total = done.timesteps + updates * config.batch_size
        progress = ConsoleProgress(total, console)
        stop = stack.enter_context(training_loop.StopRequest(announce=progress.stopping))
        if start:
            check_fits(start.checkpoint, start.path, jax.eval_shape(functools.partial(init_runner, config, env)))
        with compiling(console):
            compiled = training_loop.compile_training(config, env)
        say(f"Compiled in {compiled.compile_seconds:.1f} s.")
        if start:
            runner, remark = restored(start.checkpoint, start.path, compiled.runner)
            compiled = compiled._replace(runner=runner)
            if remark:
                say(remark)
        sinks: list[training_loop.Sink] = [progress]
        upload: Callable[[Path], None] = lambda path: None  # noqa: E731 - where nothing is uploaded
        if folder is not None:
            wandb = _tracked(arguments, folder, settings, start, say)
            stack.callback(wandb.close)
            settings["wandb_id"] = wandb.run_id
            write_json(folder / "config.json", settings)
            sinks += [*_files(folder, done.updates, stack), wandb]
            upload = upload if arguments.no_artifact else wandb.upload
        saver = Saver(
            folder or Path(),
            settings,
            every_updates=arguments.save_interval,
            every_minutes=arguments.save_interval_minutes,
            say=say,
            upload=upload,
        )
        stack.enter_context(progress)
        result = training_loop.run_training(compiled, config, env, sinks, stop, done, saver)
        if result.progress.updates == done.updates:
            say("Stopped before the first update was complete; there is nothing to keep.")
            return INTERRUPTED_EXIT_CODE
        written = saver.save(result.runner, result.progress)
    if folder is None:
        return 0

    _draw_curve(folder)
    trained, seconds = result.progress.timesteps - done.timesteps, result.progress.seconds - done.seconds
    say(
        f"Trained {trained:,} steps in {seconds:.1f} s ({trained / seconds:,.0f} steps/s), "
        f"after {compiled.compile_seconds:.1f} s of compiling."
    )
    for path in (*written, *(folder / name for name in ("metrics.csv", "learning_curve.png", "config.json"))):
        say(f"  {path}")
    if stop.requested:
        say(f"Go on: {typed_command('train', '--resume', str(written[0]))}")
    else:
        say(f"Next, a run ten times as long: {next_run}")
    return 0


def _files(folder: Path, after_update: int, stack: contextlib.ExitStack) -> "list[Sink]":
    """The metrics' files, closed with the stack; of a resumed run they keep what came before."""
    from hackmatrix.purejaxrl.metric_files import CsvLog, JsonLinesLog, TensorBoardLog

    return [
        stack.enter_context(CsvLog(folder / "metrics.csv", after_update)),
        stack.enter_context(JsonLinesLog(folder / "metrics.jsonl", after_update)),
        stack.enter_context(TensorBoardLog(folder / "tensorboard", after_update)),
    ]


def _draw_curve(folder: Path) -> None:
    """The learning curve of the whole run, earlier sessions included."""
    from hackmatrix.purejaxrl.logging import LearningCurve
    from hackmatrix.purejaxrl.metric_files import read_csv

    curve = LearningCurve()
    for row in read_csv(folder / "metrics.csv"):
        curve.write(row)
    curve.save(folder / "learning_curve.png", f"HackMatrix, masked PPO: {folder.name}")


def _tracked(
    arguments: argparse.Namespace,
    folder: Path,
    settings: dict[str, Any],
    start: _Start | None,
    say: Callable[[str], None],
) -> "WandbRun":
    from hackmatrix.wandb_run import WandbRun, kept_run_id

    return WandbRun(
        say,
        is_wanted=not arguments.no_wandb,
        folder=folder,
        project=arguments.project,
        entity=arguments.entity,
        name=folder.name,
        config=settings,
        run_id=kept_run_id(folder / "config.json") if start else None,
        rewind_to=start.checkpoint.progress.updates if start and arguments.rewind else None,
    )


if __name__ == "__main__":
    sys.exit(main())

"""``train``: train an agent on the world's JAX engine with masked PPO."""

import contextlib
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rlparity.errors import INTERRUPTED_EXIT_CODE, ParityError, UsageError
from rlparity.io.arguments import ALL_STEPS
from rlworldkit.cli.runs import page_of, say_written
from rlworldkit.cli.seeds import train_group
from rlworldkit.cli.train_plan import (
    TRAINER,
    TrainOptions,
    check_company,
    config_of,
    job_of,
    parser_of_train,
    prices_of,
    without,
)
from rlworldkit.jax.engine_backend import choose_backend
from rlworldkit.jax.xla import enable_compilation_cache, of_parts, prefer_wide_vectors
from rlworldkit.ppo.config import get_device_config, preset_of
from rlworldkit.program import Program
from rlworldkit.runs.console import print_nothing_to_save
from rlworldkit.runs.folder import CONFIG, CURVE, LATEST, METRICS
from rlworldkit.runs.pool import Parent, parent_process
from rlworldkit.runs.sinks import Metrics
from rlworldkit.settings import as_flags, from_flags

if TYPE_CHECKING:
    from rlworldkit.ppo.loop import TrainJob


def main(program: Program, argv: Sequence[str]) -> int:
    """Train; return 0, 1 if training failed or a file is not complete, or 130 if stopped before there were results."""
    arguments = parser_of_train(program).parse_args(argv)
    options = from_flags(arguments, TrainOptions)
    prefer_wide_vectors()
    choose_backend(options.engine_backend)
    if options.cpu_devices is not None:
        os.environ.update(of_parts(options.cpu_devices))
    enable_compilation_cache(program.name)
    is_group = options.seeds is not None or bool(arguments.variant)
    check_company(options, is_group)
    if options.resume is None:
        # before anything imports JAX, so that a mistake is reported at once
        config_of(program, arguments, options, {})
        prices_of(program, arguments, {})
    if is_group:
        return train_group(program, argv, arguments, options)
    parent, is_first = parent_process(), _joined(options)
    reports = [parent.report] if parent else []

    def report(metrics: Metrics) -> None:
        for each in reports:
            each(metrics)

    job = job_of(program, arguments, options, is_first=is_first, stopping="the current chunk", report=report)
    try:
        with contextlib.ExitStack() as stack:
            if options.dashboard and is_first and not parent:
                totals = {TRAINER: job.config.num_updates * job.config.batch_size}
                page = stack.enter_context(page_of(program, totals, job.run.stop, job.run.print_line))
                reports.append(partial(page.write, run=TRAINER))
            return _train(program, job, options, argv, parent)
    except ParityError as error:
        if isinstance(error, UsageError):
            raise
        print(error, file=sys.stderr)
        return 1


def _joined(options: TrainOptions) -> bool:
    """Join the other processes, if there are any; return whether this is the first."""
    if not options.distributed:
        return True
    number, processes = options.process_id, options.num_processes
    if number is not None and processes is not None and number >= processes:
        raise UsageError(f"--process-id {number} must be below --num-processes, which is {processes}.")
    from rlworldkit.ppo import parallel

    parallel.join_processes(options.coordinator, options.num_processes, options.process_id)
    return parallel.is_first_process()


def _train(program: Program, job: "TrainJob", options: TrainOptions, argv: Sequence[str], parent: Parent | None) -> int:
    """Train, and print the results; without a folder, as a process that neither writes nor prints."""
    from rlworldkit.ppo.training import train

    run, folder = job.run, job.run.folder
    if options.preset:
        preset = preset_of(program.train_config, options.preset, get_device_config().platform)
        run.print_line(f"Preset {options.preset}: {as_flags(program.train_config, preset)}")
    is_named = options.checkpoint_dir != TrainOptions.checkpoint_dir and options.resume not in (None, LATEST)
    if folder is not None and is_named and folder.parent.resolve() != options.checkpoint_dir.resolve():
        run.print_line(f"--checkpoint-dir has no effect: the run continues in {folder}.")
    with run.stop:
        trained = train(**vars(job))
    if parent:
        parent.finish(trained._replace(params=None))
    if not trained.has_trained:
        print_nothing_to_save(run.console)
        return INTERRUPTED_EXIT_CODE
    if folder is None:
        return 0
    steps = trained.progress.timesteps - trained.since.timesteps
    seconds = trained.progress.seconds - trained.since.seconds
    run.print_line(
        f"Trained {steps:,} steps in {seconds:.1f} s ({steps / seconds:,.0f} steps/s), "
        f"after {trained.compile_seconds:.1f} s of compiling."
    )
    files = (*trained.files, *(folder / name for name in (METRICS, CURVE, CONFIG)))
    say_written(program, run, files, trained.files[-1])
    longer = 10 * job.config.total_timesteps
    if run.stop.requested:
        run.print_line(f"Resume: {program.typed('train', '--resume', trained.files[0])}")
    elif job.start is None and longer <= ALL_STEPS.most:  # a resumed run's settings are not in its command line
        others = without([word for word in argv if word != "--rewind"], "total-timesteps", "run-name", "resume")
        again = program.typed("train", *others, "--total-timesteps", str(longer))
        run.print_line(f"Next, a run ten times as long: {again}")
    return 1 if run.writer.failing else 0

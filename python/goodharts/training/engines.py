"""Training a mode with the engine that its settings name."""

from importlib import import_module
from typing import Any

from goodharts.config import EngineName
from goodharts.training.runs import ModeRun, RunResult
from rlparity.errors import ParityError, UsageError, is_out_of_memory

_COMPILERS = ("torch._dynamo", "torch._inductor")
"""The modules whose errors are those of ``torch.compile``."""


def engine_named(name: EngineName) -> Any:  # noqa: ANN401 - a module
    """The module that trains with an engine by ``check(config)`` and ``train(mode_run)``, imported here: it is slow.

    ``check`` raises UsageError where these settings cannot be trained with, here and with this engine. ``train`` trains
    until the run's updates are done or it is asked to stop, and saves; it raises UsageError as ``check`` does.
    """
    return import_module(f"goodharts.training.{name}_ppo")


def train_mode(mode_run: ModeRun) -> RunResult:
    """Train a mode until its updates are done or it is asked to stop; either way everything is saved.

    It writes into the folders that ``reserved`` makes and holds. Where ``torchrun`` started several processes, each
    calls this, and only the first one writes. Raises UsageError where the device is missing, the games cannot be
    shared, the network cannot be compiled, or the checkpoint is damaged, TrainingDiverged where a loss is no longer a
    number, and ParityError where there is not enough memory.
    """
    job = mode_run.job
    try:
        with mode_run:
            engine_named(job.config.training.engine).train(mode_run)
    except Exception as error:
        if is_out_of_memory(error) or (error.__cause__ and is_out_of_memory(error.__cause__)):
            raise ParityError(
                f"Training {job.mode} needs more memory than {mode_run.about.get('device', 'the device')} has: give "
                "fewer --n-envs, or more minibatches in config.toml."
            ) from None
        if type(error).__module__.startswith(_COMPILERS):
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise UsageError(f"torch.compile failed ({reason:.200}): leave --compile-mode out.") from None
        raise
    return mode_run.ended()

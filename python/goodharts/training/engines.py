"""Training a mode with the engine that its settings name."""

from __future__ import annotations

from typing import Protocol, assert_never

from goodharts.config import Config, EngineName
from goodharts.training.runs import ModeRun, RunResult
from parity.errors import ParityError, UsageError, is_out_of_memory

_COMPILERS = ("torch._dynamo", "torch._inductor")
"""The modules whose errors are those of ``torch.compile``."""


class Engine(Protocol):
    """A module that trains modes: the torch PPO, or worldkit's in JAX."""

    def check(self, config: Config) -> None:
        """Raises UsageError where these settings cannot be trained with, here and with this engine."""

    def train(self, mode_run: ModeRun) -> None:
        """Train until the run's updates are done or it is asked to stop, and save; raises UsageError as ``check``."""


def engine_named(name: EngineName) -> Engine:
    """The engine of this name, imported here: both take a while."""
    match name:
        case "torch":
            from goodharts.training import torch_ppo

            return torch_ppo
        case "jax":
            from goodharts.training import jax_ppo

            return jax_ppo
        case unknown:
            assert_never(unknown)


def train_mode(mode_run: ModeRun) -> RunResult:
    """Train a mode until its updates are done or it is asked to stop; either way everything is saved.

    It writes into the folders that ``reserved`` makes and holds. Where ``torchrun`` started several processes, each
    calls this, and only the first one writes.

    Raises:
        UsageError: the device is missing, the games cannot be shared, the network cannot be compiled, or the
            checkpoint is damaged.
        TrainingDiverged: a loss is no longer a number; the last checkpoint stays.
        ParityError: there is not enough memory.
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

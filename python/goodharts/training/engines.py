"""Training a mode with the engine that its settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from goodharts.config import EngineName
from goodharts.training.engine import Engine
from goodharts.training.runs import Job, ModeRun, Row, RunResult
from worldkit.runs.stop import StopRequest


def engine_named(name: EngineName) -> Engine:
    """The engine of this name, imported here: both take a while."""
    match name:
        case "torch":
            from goodharts.training.torch_ppo import TorchEngine

            return TorchEngine()
        case "jax":
            from goodharts.training.jax_ppo import JaxEngine

            return JaxEngine()
        case unknown:
            assert_never(unknown)


def train_mode(
    job: Job,
    *,
    report: Callable[[Row], None] = lambda row: None,
    say: Callable[[str], None] = lambda line: None,
    stop: StopRequest | None = None,
    is_first: bool = True,
) -> RunResult:
    """Train a mode until its updates are done or ``stop`` asks for an end; either way everything is saved.

    It writes into the folders that ``reserved`` makes and holds. Where ``torchrun`` started several processes, each
    calls this, and only the first one writes. The arguments are those of ``ModeRun``.

    Raises:
        UsageError: the device is missing, the games cannot be shared, the network cannot be compiled, or the
            checkpoint is damaged.
        TrainingDiverged: a loss is no longer a number; the last checkpoint stays.
        ParityError: there is not enough memory.
    """
    engine = engine_named(job.config.training.engine)
    run = ModeRun(job, report=report, say=say, stop=stop, is_first=is_first)
    try:
        with run:
            engine.train(run)
    except Exception as error:
        explained = engine.explained(error, job.mode)
        if explained:
            raise explained from None
        raise
    return run.ended()

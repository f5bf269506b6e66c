"""Settings of the smallest runs, and one compiled program for all runs with the same, however many steps they take."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from jax.sharding import Mesh

from rlworldkit.jax.env import JaxEnv
from rlworldkit.jax.switches import switch
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.program import CompiledTraining, compile_training
from rlworldkit.settings import as_flags

SMALL = TrainConfig(8, 8, 10 * 64, hidden_dim=8, num_layers=1, num_minibatches=2, log_interval=1)
_SIZES = ("num_envs", "num_steps", "hidden_dim", "num_layers", "num_minibatches", "update_epochs", "log_interval")
SIZES = as_flags(TrainConfig, {name: getattr(SMALL, name) for name in _SIZES}).split()
"""The same as flags of ``train``."""


@pytest.fixture(scope="module")
def no_picture() -> Iterator[None]:
    """Draw no curves, which takes longer than all else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rlworldkit.runs.curve.draw_curve", lambda rows, path, *_: path.write_bytes(b"picture"))
        yield


@pytest.fixture(scope="package", autouse=True)
def compiled_once() -> Iterator[Callable[..., CompiledTraining]]:
    programs: dict[Any, CompiledTraining] = {}

    def compile_once(
        config: TrainConfig, env: JaxEnv, mesh: Mesh | None, seeds: Sequence[int] = ()
    ) -> CompiledTraining:
        of_any_length = dataclasses.replace(config, total_timesteps=config.batch_size)
        key = (type(env), of_any_length, switch("jax_disable_most_optimizations"), *seeds)
        if key not in programs:
            programs[key] = compile_training(config, env, mesh, seeds)
        return programs[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rlworldkit.ppo.training.compile_training", compile_once)
        yield compile_once

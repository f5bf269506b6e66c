"""Settings of the smallest runs, and one compiled program for all runs with the same, however many steps they take."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from rlworldkit.jax.env import JaxEnv
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.loop import CompiledTraining, compile_training

SMALL = TrainConfig(8, 8, 10 * 64, hidden_dim=8, num_layers=1, num_minibatches=2, log_interval=1)


@pytest.fixture(scope="package", autouse=True)
def compiled_once() -> Iterator[None]:
    programs: dict[Any, CompiledTraining] = {}

    def compile_once(config: TrainConfig, env: JaxEnv, mesh: Any) -> CompiledTraining:  # noqa: ANN401 - as JAX has it
        key = (type(env), dataclasses.replace(config, total_timesteps=config.batch_size))
        if key not in programs:
            programs[key] = compile_training(config, env, mesh)
        return programs[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rlworldkit.ppo.training.compile_training", compile_once)
        yield

"""Settings of the smallest runs, and one compiled program for all runs with the same, however many steps they take."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from jax.sharding import Mesh

from rlworldkit.jax.env import JaxEnv
from rlworldkit.jax.switches import switch
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.program import CompiledTraining, compile_training

SMALL = TrainConfig(8, 8, 10 * 64, hidden_dim=8, num_layers=1, num_minibatches=2, log_interval=1)


@pytest.fixture(scope="package", autouse=True)
def compiled_once() -> Iterator[None]:
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
        yield

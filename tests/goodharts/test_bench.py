"""``goodharts bench``: its records have the form of every world's, and measure what they say."""

import dataclasses
from unittest.mock import Mock

import numpy as np
import pytest

from goodharts import bench
from goodharts.cli.main import PROGRAM
from goodharts.config import Config
from goodharts.env import GoodhartsJaxEnv
from rlparity.core.prices import price_values
from rlworldkit.bench import timing
from rlworldkit.bench.train import compiled as compiled_update

PRICED = PROGRAM.world.with_prices({"food": 2})
NO_TIME = timing.TimedProgram(lambda carry: carry, 0, 0.0, 0.0, 0)
"""A program that takes no time."""


@pytest.fixture(autouse=True)
def short_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "SECONDS_PER_SAMPLE", 0.01)


@pytest.mark.parametrize("is_compiled", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_trainer_s_benchmark_measures_each_engine(is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    small = dataclasses.replace(Config().training, hidden=4, steps_per_env=8)
    compiled = Mock(wraps=compiled_update) if is_compiled else Mock(return_value=NO_TIME)
    monkeypatch.setattr(bench, "compiled_update", compiled)
    monkeypatch.setattr(bench, "NETWORKS", ("mlp",))  # the other takes longer
    monkeypatch.setattr(bench, "Config", lambda: Config(training=small))
    records = list(bench.measure_train(PRICED, 2, 1))
    assert [(record.name, record.num_envs) for record in records] == [
        (f"train_steps_per_second_{engine}_mlp", 2) for engine in ("torch", "jax")
    ]
    assert all(record.value > 0 for record in records)
    world, config = compiled.call_args.args
    assert (type(world), np.asarray(world.prices).tolist()) == (GoodhartsJaxEnv, [*price_values(PRICED)])
    assert (config.num_envs, config.num_steps, config.hidden_dim) == (2, 8, 4)

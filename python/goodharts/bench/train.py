"""Benchmark of PPO with each engine and network."""

import dataclasses
from collections.abc import Iterator
from itertools import product
from typing import assert_never

import jax

from goodharts.architecture import NETWORKS, network_config
from goodharts.config import ENGINES, Config, Prices
from goodharts.devices import choose_device, prepare
from goodharts.env import env_by
from goodharts.rules import DEFAULT_MODE, MODES
from goodharts.training.jax_ppo import precision_on, train_config
from goodharts.training.torch_ppo import TorchTrainer
from rlparity import World
from rlparity.core.prices import changed_prices
from rlworldkit.bench.records import Record, plain_record
from rlworldkit.bench.timing import alone
from rlworldkit.bench.train import compiled

CPU_STEPS = 4
"""Of each game in a sample of the cnn on a CPU, where the documented rollout takes minutes."""

_MODE = MODES[DEFAULT_MODE]


def measure(world: World, num_envs: int, repetitions: int) -> Iterator[Record]:
    """``train_steps_per_second_ENGINE_NETWORK``: rollouts and their updates with the default settings.

    All is on the device that training would choose; a first sample warms up and is not counted. Memory of torch is not
    measured.

    On a CPU a sample's rollout with the cnn has ``CPU_STEPS`` steps of each game: all of an update, but for its
    optimizer's step and one look ahead, takes time by the step, so that fewer steps take as long each.
    """
    device, backend = choose_device(), jax.default_backend()
    config = dataclasses.replace(Config(), prices=Prices(**changed_prices(world)))
    for engine, network in product(ENGINES, NETWORKS):
        training = dataclasses.replace(config.training, engine=engine, network=network, n_envs=num_envs)
        if network == "cnn" and (device.type if engine == "torch" else backend) == "cpu":
            training = dataclasses.replace(training, steps_per_env=CPU_STEPS)
        name = f"train_steps_per_second_{engine}_{network}"
        match engine:
            case "jax":
                shape = network_config(training, on_cpu=backend == "cpu")
                ppo, env = train_config(training, shape, precision_on(backend, amp=True)), env_by(config, _MODE.name)
                yield alone(name, num_envs, compiled(env, ppo), ppo.batch_size, repetitions)
            case "torch":
                prepare(device)
                trainer = TorchTrainer(_MODE.name, dataclasses.replace(config, training=training), device)
                samples = [trainer.step().metrics["steps_per_second"] for _ in range(1 + repetitions)]
                yield plain_record(name, num_envs, samples[1:])
            case unknown:
                assert_never(unknown)

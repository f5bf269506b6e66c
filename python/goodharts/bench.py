"""Benchmarks of both engines, and of PPO with each of them."""

import dataclasses
import time
from collections.abc import Iterator
from itertools import product

import jax
import numpy as np
import torch

from goodharts.architecture import NETWORKS, network_config
from goodharts.config import ENGINES, JAX, TORCH, Config, Prices
from goodharts.devices import choose_device, prepare
from goodharts.env import env_by, env_of
from goodharts.rules import ACTIONS, DEFAULT_MODE, MODES
from goodharts.torch_env.env import Games
from goodharts.torch_env.observation import observation_of
from goodharts.torch_env.random import keys_of
from goodharts.torch_env.tables import channels
from goodharts.training.jax_ppo import precision_on, train_config
from goodharts.training.torch_ppo import TorchTrainer
from goodharts.world import game_seeds
from rlparity import World
from rlparity.core.prices import changed_prices, price_values
from rlworldkit.bench.env import STEPS_PER_CALL
from rlworldkit.bench.env import compiled as compiled_play
from rlworldkit.bench.records import Record, plain_record
from rlworldkit.bench.timing import alone
from rlworldkit.bench.train import compiled as compiled_update

STEPS = 200
"""Fewest steps of every game in a sample of the torch engine."""
STEPS_OF_ALL = 200_000
"""Fewest steps of all games together in a sample of the torch engine, since steps of few games are short."""
CPU_STEPS = 4
"""Steps of each game in a sample of the cnn on a CPU, where the documented rollout takes minutes."""

_MODE = MODES[DEFAULT_MODE]


def measure_env(world: World, num_envs: int, repetitions: int) -> Iterator[Record]:
    """``env_steps_per_second_torch`` and ``…_jax``: steps of all games a second in mode ground_truth.

    Both play random actions; every observation is written as the float32 that a network reads, and games that end
    restart in the same step. The torch engine plays on the CPU with torch's threads, the JAX engine like that of any
    world (``rlworldkit.bench.env``). First samples warm up and are not counted.
    """
    prices = price_values(world)
    games = Games(_MODE, num_envs, prices=prices)
    games.start(keys_of(game_seeds(0, num_envs)))
    samples = [_play(games) for _ in range(1 + repetitions)][1:]
    yield plain_record("env_steps_per_second_torch", num_envs, samples)
    program = compiled_play(env_of(_MODE).with_prices(np.array(prices, np.int32)), num_envs)
    yield alone("env_steps_per_second_jax", num_envs, program, STEPS_PER_CALL * num_envs, repetitions)


def _play(games: Games) -> float:
    steps = max(STEPS, -(-STEPS_OF_ALL // games.games))
    shows = torch.tensor(channels(games.mode, games.numbers), device=games.device)
    start = time.perf_counter()
    for _ in range(steps):
        outcome = games.step(torch.randint(len(ACTIONS), (games.games,), device=games.device))
        codes, ended = outcome.codes, (outcome.terminated | outcome.truncated).nonzero()[:, 0]
        if len(ended):
            codes[ended] = games.restart(ended)
        observation_of(codes, shows)
    return games.games * steps / (time.perf_counter() - start)


def measure_train(world: World, num_envs: int, repetitions: int) -> Iterator[Record]:
    """``train_steps_per_second_ENGINE_NETWORK``: rollouts and their updates with the default settings.

    Everything runs on the device that training would choose; a first sample warms up and is not counted. The memory of
    torch is not measured.

    On a CPU a sample's rollout with the cnn has ``CPU_STEPS`` steps of each game: except for the optimizer's step and
    one more forward pass, the time of an update is proportional to its steps, so the time per step hardly changes.
    """
    device, backend = choose_device(), jax.default_backend()
    config = dataclasses.replace(Config(), prices=Prices(**changed_prices(world)))
    for engine, network in product(ENGINES, NETWORKS):
        training = dataclasses.replace(config.training, engine=engine, network=network, n_envs=num_envs)
        if network == "cnn" and (device.type if engine == TORCH else backend) == "cpu":
            training = dataclasses.replace(training, steps_per_env=CPU_STEPS)
        name = f"train_steps_per_second_{engine}_{network}"
        if engine == JAX:
            shape = network_config(training, on_cpu=backend == "cpu")
            ppo, env = train_config(training, shape, precision_on(backend, amp=True)), env_by(config, _MODE.name)
            yield alone(name, num_envs, compiled_update(env, ppo), ppo.batch_size, repetitions)
        else:
            prepare(device)
            trainer = TorchTrainer(_MODE.name, dataclasses.replace(config, training=training), device)
            samples = [trainer.step().metrics["steps_per_second"] for _ in range(1 + repetitions)]
            yield plain_record(name, num_envs, samples[1:])

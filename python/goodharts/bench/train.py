"""Benchmark of PPO with each engine and network, beside PPO on an environment that costs nothing."""

import dataclasses
from collections.abc import Iterator
from itertools import product
from typing import assert_never

import jax
import torch

from goodharts.architecture import NETWORKS, network_config
from goodharts.config import ENGINES, Config, Prices
from goodharts.devices import choose_device, prepare
from goodharts.jax_training import env_by
from goodharts.rules import DEFAULT_MODE, MODES, Mode
from goodharts.torch_env.env import Games, Outcome
from goodharts.torch_env.random import game_keys
from goodharts.training.jax_ppo import precision_on, train_config
from goodharts.training.rollout import Player
from goodharts.training.torch_ppo import TorchTrainer
from rlparity import World
from rlparity.core.prices import changed_prices
from rlworldkit.bench.constant_env import ConstantEnv
from rlworldkit.bench.records import Record, ceiling_names, paired_records
from rlworldkit.bench.timing import beside
from rlworldkit.bench.train import compiled

CPU_STEPS = 4
"""Of each game in a sample of the cnn on a CPU, where the documented rollout takes minutes."""

_MODE = MODES[DEFAULT_MODE]


def measure(world: World, num_envs: int, repetitions: int) -> Iterator[Record]:
    """For each engine and network ``train_steps_per_second_ENGINE_NETWORK``, ``train_ceiling_…`` and their share.

    One sample is a rollout and its update with the default settings in ``num_envs`` games; the ceiling is the same in
    games that answer every step with what they showed first. The samples of both alternate, and the share
    ``train_share_of_ceiling_ENGINE_NETWORK`` is that of neighbours. All is on the device that training would choose; a
    first sample warms up and is not counted. Memory is not measured.

    On a CPU a sample's rollout with the cnn has ``CPU_STEPS`` steps of each game: all of an update, but for its
    optimizer's step and one look ahead, takes time by the step, so that fewer steps take as long each.
    """
    device, backend = choose_device(), jax.default_backend()
    config = dataclasses.replace(Config(), prices=Prices(**changed_prices(world)))
    for engine, network in product(ENGINES, NETWORKS):
        training = dataclasses.replace(config.training, engine=engine, network=network, n_envs=num_envs)
        if network == "cnn" and (device.type if engine == "torch" else backend) == "cpu":
            training = dataclasses.replace(training, steps_per_env=CPU_STEPS)
        match engine:
            case "jax":
                shape = network_config(training, on_cpu=backend == "cpu")
                ppo, env = train_config(training, shape, precision_on(backend, amp=True)), env_by(config, _MODE.name)
                programs = compiled(env, ppo), compiled(ConstantEnv(env), ppo)
                names = ceiling_names("train", f"_jax_{network}")
                yield from beside(names, num_envs, programs, ppo.batch_size, repetitions)
            case "torch":
                real, ceiling = trainers(dataclasses.replace(config, training=training), device)
                pairs = [(_update(real), _update(ceiling)) for _ in range(1 + repetitions)]
                yield from paired_records(ceiling_names("train", f"_torch_{network}"), num_envs, pairs[1:])
            case unknown:
                assert_never(unknown)


def trainers(config: Config, device: torch.device) -> tuple[TorchTrainer, TorchTrainer]:
    """A trainer, and one whose games do nothing."""
    prepare(device)
    real, ceiling = (TorchTrainer(_MODE.name, config, device) for _ in range(2))
    games = config.training.n_envs
    ceiling.player = Player(ConstantGames(_MODE, games, device), ceiling.player.noise, range(games), games)
    return real, ceiling


def _update(trainer: TorchTrainer) -> float:
    return trainer.step().metrics["steps_per_second"]


class ConstantGames(Games):
    """Games that stay at their first moment: no world, no ends, no rewards."""

    def __init__(self, mode: Mode, games: int, device: torch.device) -> None:
        super().__init__(mode, games, device=device)
        codes = self.start(game_keys(0, games).to(device))
        nothing, never = torch.zeros(games, device=device), torch.zeros(games, dtype=torch.bool, device=device)
        components = torch.zeros((games, 5), dtype=torch.int64, device=device)
        self._outcome = Outcome(codes, components, nothing, nothing.long(), never, never)

    def step(self, actions: torch.Tensor) -> Outcome:
        """Return the first moment."""
        return self._outcome

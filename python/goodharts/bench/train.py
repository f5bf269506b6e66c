"""How close PPO in torch comes to PPO on an environment that does nothing, with each network."""

import dataclasses
from collections.abc import Iterator

import torch

from goodharts.architecture import NETWORKS
from goodharts.config import Config
from goodharts.devices import choose_device, prepare
from goodharts.rules import DEFAULT_MODE, Mode
from goodharts.torch_env.env import Games, Outcome
from goodharts.torch_env.random import game_keys
from goodharts.training.rollout import Player
from goodharts.training.torch_trainer import TorchTrainer
from worldkit.bench.records import Record, plain_record

CPU_STEPS = 4
"""Of each game in a sample on a CPU, where the default rollout takes minutes."""


def measure(num_envs: int, repetitions: int) -> Iterator[Record]:
    """For each network ``train_steps_per_second_NETWORK``, ``train_ceiling_steps_per_second_NETWORK``, and their share.

    One sample is a rollout and its update with the default settings in ``num_envs`` games; the ceiling is the same in
    games that answer every step with what they showed first. The samples of both alternate, and the share
    ``train_share_of_ceiling_NETWORK`` is that of neighbours. All is on the device that training would choose; a first
    sample warms up and is not counted. Memory is not measured.

    On a CPU a sample's rollout has ``CPU_STEPS`` steps of each game: all of an update, but for its optimizer's step and
    one look ahead, takes time by the step, so that fewer steps take as long each. On a GPU, which small batches
    leave idle, it has those of the default.
    """
    for network in NETWORKS:
        yield from _measure(network, num_envs, repetitions)


def _measure(network: str, num_envs: int, repetitions: int) -> list[Record]:
    trainers = [_trainer(network, num_envs) for _ in range(2)]
    real, nothing = trainers
    games, player = real.player.games, nothing.player
    nothing.player = Player(NothingGames(games.mode, num_envs, games.device), player.noise, range(num_envs), num_envs)
    samples = [[_update(trainer) for trainer in trainers] for _ in range(1 + repetitions)][1:]
    share = [sample[0] / sample[1] for sample in samples]
    return [
        plain_record(f"train_steps_per_second_{network}", num_envs, [sample[0] for sample in samples]),
        plain_record(f"train_ceiling_steps_per_second_{network}", num_envs, [sample[1] for sample in samples]),
        plain_record(f"train_share_of_ceiling_{network}", num_envs, share, unit=""),
    ]


def _trainer(network: str, num_envs: int) -> TorchTrainer:
    device = choose_device()
    prepare(device)
    training = dataclasses.replace(Config().training, network=network, n_envs=num_envs)
    if device.type == "cpu":
        training = dataclasses.replace(training, steps_per_env=CPU_STEPS)
    return TorchTrainer(DEFAULT_MODE, dataclasses.replace(Config(), training=training), device)


def _update(trainer: TorchTrainer) -> float:
    trainer.step()
    return trainer.config.batch_size / trainer.seconds.all


class NothingGames(Games):
    """The first moment of some games for ever: no world, no ends, no rewards."""

    def __init__(self, mode: Mode, games: int, device: torch.device) -> None:
        super().__init__(mode, games, device=device)
        codes = self.start(game_keys(0, games).to(device))
        nothing, never = torch.zeros(games, device=device), torch.zeros(games, dtype=torch.bool, device=device)
        components = torch.zeros((games, 5), dtype=torch.int64, device=device)
        self._outcome = Outcome(codes, components, nothing, nothing.long(), never, never)

    def step(self, actions: torch.Tensor) -> Outcome:
        """What was there first."""
        return self._outcome

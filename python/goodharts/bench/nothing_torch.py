"""Games in torch that do nothing, and the trainers that are measured with them."""

from __future__ import annotations

import torch

from goodharts.config import Config
from goodharts.devices import choose_device, prepare
from goodharts.rules import DEFAULT_MODE, Mode
from goodharts.torch_env.env import Games, Outcome
from goodharts.torch_env.random import game_keys
from goodharts.training.rollout import Player
from goodharts.training.torch_trainer import TorchTrainer


def torch_trainers(config: Config, cpu_steps: int | None) -> tuple[TorchTrainer, TorchTrainer]:
    """A trainer, and one whose games do nothing. cpu_steps: of a game in a rollout on a CPU; None leaves it be."""
    device = choose_device()
    prepare(device)
    if device.type == "cpu" and cpu_steps:
        config = config.over({"training": {"steps_per_env": cpu_steps}}, "The benchmark")
    real, nothing = (TorchTrainer(DEFAULT_MODE, config, device) for _ in range(2))
    player, games = nothing.player, config.training.n_envs
    nothing.player = Player(NothingGames(real.mode, games, device), player.noise, range(games), games)
    return real, nothing


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

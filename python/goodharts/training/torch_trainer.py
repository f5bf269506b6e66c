"""The trainer on the torch engine."""

from __future__ import annotations

import copy
import dataclasses
import time
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from goodharts.architecture import network_config
from goodharts.config import TORCH, Config
from goodharts.devices import describe, mixed_precision
from goodharts.models import Model
from goodharts.torch_env import random, state_dict
from goodharts.torch_env.env import Games
from goodharts.torch_env.state import State
from goodharts.training.learner import NOISE, Learner, stream
from goodharts.training.parallel import ALONE, Processes
from goodharts.training.popart import PopArt
from goodharts.training.rates import Rates
from goodharts.training.rollout import Player
from goodharts.training.trainer import Learned, Seconds, Trainer
from parity.errors import UsageError
from parity.reading import Unreadable


class TorchTrainer(Trainer):
    """Trains one mode.

    Args:
        mode: its name. config: the settings; ``config.training.updates`` is where schedules end.
        device: where everything is computed.
        processes: those that train the same network, each with its share of the games.

    Raises UsageError where the games or the batch cannot be shared by the processes.
    """

    engine = TORCH

    def __init__(
        self, mode: str, config: Config, device: torch.device | str = "cpu", processes: Processes = ALONE
    ) -> None:
        self.device = torch.device(device)
        super().__init__(mode, config, network_config(config.training, on_cpu=self.device.type == "cpu"))
        self._processes = processes
        self.is_first, self.processes = processes.is_first, processes.count
        precision = mixed_precision(self.device, config.runtime.amp)
        self.learner = Learner(self.mode, config, self.network, self.device, precision, processes)
        training = config.training
        share = processes.share(training.n_envs)
        if len(share) * training.steps_per_env % training.minibatches:
            raise UsageError(
                f"{processes.count} processes cannot split the batch into {training.minibatches} minibatches evenly: "
                "give fewer in config.toml."
            )
        games = Games(self.mode, len(share), numbers=config.numbers(), device=self.device)
        games.start(random.game_keys(training.seed, training.n_envs)[share.start : share.stop].to(self.device))
        noise = torch.Generator(self.device).manual_seed(stream(training.seed, NOISE))
        self.player = Player(games, noise, share, training.n_envs)

    @property
    def parameters(self) -> int:
        return self.learner.parameters

    @property
    def place(self) -> str:
        return describe(self.device)

    @property
    def precision(self) -> str:
        return str(mixed_precision(self.device, self.config.runtime.amp) or torch.float32).removeprefix("torch.")

    @property
    def versions(self) -> Mapping[str, str]:
        return {"torch": torch.__version__}

    def any(self, flag: bool) -> bool:
        return self._processes.any(flag)

    def first_says(self, flag: bool) -> bool:
        return bool(self._processes.gathered(flag)[0])

    def _play_and_learn(self, rates: Rates) -> tuple[Learned, list[list[float]], Seconds]:
        begun = time.perf_counter()
        rollout = self.player.play(self.config.training.steps_per_env, self.learner.judge)
        shares = self._processes.gathered(rollout.episodes.cpu().tolist())  # waits for the device
        played = time.perf_counter()
        learned = self.learner.learn(rollout, rates)
        finished = [episode for share in shares for episode in share]
        return learned, finished, Seconds(played - begun, time.perf_counter() - played)

    def model(self) -> Model:
        policy = copy.deepcopy(self.learner.policy).cpu()
        now = self.learner.popart
        scale = PopArt(policy.value, 1.0)
        scale.mean, scale.deviation = now.mean.cpu(), now.deviation.cpu()
        scale.move(torch.zeros(()), torch.ones(()))
        return Model(self.mode.name, self.network, self.config.plain(), self.update, self.timesteps, policy)

    def state(self) -> dict[str, Any]:
        # of all processes together
        state = self.player.games.state
        own = {each.name: getattr(state, each.name).cpu() for each in dataclasses.fields(state)}
        gathered = self._processes.gathered({**own, "totals": self.player.totals.cpu()})
        return {
            **_on_cpu(self.learner.state()),
            "games": {name: torch.cat([share[name] for share in gathered]) for name in gathered[0]},
            "noise": self.player.noise.get_state(),
            "device": self.device.type,
        }

    def restore(self, update: int, timesteps: int, state: Mapping[str, Any]) -> None:
        """Go on from a ``state`` after so many updates; raises Unreadable where it does not fit.

        Exact on the same kind of device; on another one actions are drawn from a stream of their own from here on.
        """
        self.learner.restore(state)
        player, kept = self.player, dict(state["games"])
        totals = kept.pop("totals")
        # through the dicts of the rules, which refuse what could not be played
        games = state_dict.from_dicts(state_dict.to_dicts(State(**kept)), self.device)
        if len(games.x) != player.of or totals.shape != (player.of, player.totals.shape[1]):
            raise Unreadable(f"it holds {len(games.x)} games, not {player.of}")
        own = torch.arange(player.share.start, player.share.stop, device=self.device)
        player.codes = player.games.put(torch.arange(len(own), device=self.device), games.rows(own))
        player.totals = totals.to(self.device)[own]
        if state["device"] == self.device.type:
            player.noise.set_state(state["noise"])
        else:
            player.noise.manual_seed(stream(self.config.training.seed, NOISE, update))
        self.update, self.timesteps = update, timesteps


def _on_cpu(value: Any) -> Any:  # noqa: ANN401 - plain values and tensors, nested
    if isinstance(value, Tensor):
        return value.cpu()
    return {name: _on_cpu(each) for name, each in value.items()} if isinstance(value, dict) else value

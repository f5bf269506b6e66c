"""One mode's training on the torch engine, update by update, in memory alone."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from goodharts.architecture import network_config
from goodharts.config import Config
from goodharts.devices import describe, mixed_precision
from goodharts.models import Model
from goodharts.rules import MODES
from goodharts.torch_env import random, state_dict
from goodharts.torch_env.env import Games
from goodharts.torch_env.state import State
from goodharts.training.learner import NOISE, Learner, stream
from goodharts.training.parallel import ALONE, Processes
from goodharts.training.popart import PopArt
from goodharts.training.rates import rates_at
from goodharts.training.rollout import Player
from parity.errors import UsageError
from parity.safe_read import Unreadable
from worldkit.runs.run import TrainingDiverged
from worldkit.runs.sinks import Metrics


class UpdateResult(NamedTuple):
    """Result of an update, of all processes. metrics: by the names of worldkit's trainers.

    episodes: those that ended in it, with the columns ``runs.EPISODE``.
    """

    metrics: Metrics
    episodes: Sequence[Sequence[float]]


class TorchTrainer:
    """Trains one mode.

    Args:
        mode: its name. config: the settings; ``config.training.updates`` is where schedules end.
        device: where everything is computed.
        processes: those that train the same network, each with its share of the games.

    Attributes:
        network: what is trained.
        update, timesteps: how many there were.
        seconds: how long they took.

    Raises UsageError where the games or the batch cannot be shared by the processes.
    """

    def __init__(
        self, mode: str, config: Config, device: torch.device | str = "cpu", processes: Processes = ALONE
    ) -> None:
        self.mode, self.config, self.device = MODES[mode], config, torch.device(device)
        self.network = network_config(config.training, on_cpu=self.device.type == "cpu")
        self.update = self.timesteps = 0
        self.seconds = 0.0
        self._processes = processes
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
    def is_done(self) -> bool:
        """Whether all updates are done."""
        return self.update >= self.config.training.updates

    def about(self) -> dict[str, Any]:
        """What ``_summary.json`` says of the trainer."""
        precision = mixed_precision(self.device, self.config.runtime.amp) or torch.float32
        return {
            "network": {"kind": self.network.kind, "parameters": self.learner.parameters},
            "engine": "torch",
            "device": describe(self.device),
            "precision": str(precision).removeprefix("torch."),
            "processes": self._processes.count,
            "versions": {"torch": torch.__version__},
        }

    def step(self) -> UpdateResult:
        """One update: play, then learn. Raises TrainingDiverged where a loss is no longer a number."""
        began = time.perf_counter()
        rollout = self.player.play(self.config.training.steps_per_env, self.learner.judge)
        shares = self._processes.gathered(rollout.episodes.cpu().tolist())
        learned = self.learner.learn(rollout, rates_at(self.update, self.config.training.updates, self.config.training))
        seconds = time.perf_counter() - began
        episodes = [episode for share in shares for episode in share]
        self.update += 1
        self.timesteps += self.config.batch_size
        self.seconds += seconds
        if not all(math.isfinite(each) for each in (learned.pg_loss, learned.value_loss, learned.grad_norm)):
            raise TrainingDiverged(
                f"Training {self.mode.name} diverged in update {self.update}: the loss is no longer a number; start "
                "again with a lower learning_rate."
            )
        numbers = learned._asdict()
        chances = numbers.pop("action_probs")
        metrics = {
            "update": self.update,
            "timesteps": self.timesteps,
            "seconds": self.seconds,
            "steps_per_second": self.config.batch_size / seconds,
            "train/mean_episode_return": _mean([reward for _, _, _, reward, *_ in episodes]),
            "train/mean_episode_length": _mean([length for _, _, length, *_ in episodes]),
            "train/num_episodes": len(episodes),
            **{f"train/{name}": number for name, number in numbers.items()},
            **{f"train/action_prob_{action}": chance for action, chance in enumerate(chances)},
        }
        return UpdateResult(metrics, episodes)

    def model(self) -> Model:
        """The agent as it is now; its values are in units of reward."""
        policy = copy.deepcopy(self.learner.policy).cpu()
        now = self.learner.popart
        scale = PopArt(policy.value, 1.0)
        scale.mean, scale.deviation = now.mean.cpu(), now.deviation.cpu()
        scale.move(torch.zeros(()), torch.ones(()))
        return Model(self.mode.name, self.network, self.config.plain(), self.update, self.timesteps, policy)

    def state(self) -> dict[str, Any]:
        """Everything that training goes on from, of all processes together: plain values and tensors on the CPU."""
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


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan

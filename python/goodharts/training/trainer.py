"""One mode's training, update by update, in memory alone."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from goodharts.config import AUTO, Config
from goodharts.devices import mixed_precision
from goodharts.models import Model
from goodharts.networks import NetworkConfig
from goodharts.rules import ACTIONS, MODES
from goodharts.torch_env import random, state_dict
from goodharts.torch_env.env import Games
from goodharts.torch_env.state import State
from goodharts.training.learner import NOISE, Learner, stream
from goodharts.training.parallel import ALONE, Processes
from goodharts.training.popart import PopArt
from goodharts.training.ppo import rates_at
from goodharts.training.rollout import EPISODE, Player
from parity.errors import ParityError, UsageError
from parity.reading import Unreadable

Row = Mapping[str, Any]
"""What an update says of itself: plain values by name, None where there is nothing to say."""


class TrainingDiverged(ParityError):
    """The loss is no longer a number."""

    exit_code = 1


class Seconds(NamedTuple):
    """How long the latest update took, and its two parts."""

    playing: float
    learning: float

    @property
    def all(self) -> float:
        """Both together."""
        return self.playing + self.learning


class Updated(NamedTuple):
    """What an update gave. episodes: those that ended in it, by name, of all processes."""

    row: Row
    episodes: list[Row]


def network_config(config: Config, device: torch.device) -> NetworkConfig:
    """The network that a configuration asks for; ``auto`` is the mlp on a CPU, and the cnn elsewhere."""
    training = config.training
    kind = ("mlp" if device.type == "cpu" else "cnn") if training.network == AUTO else training.network
    return NetworkConfig(kind, hidden=training.hidden, privileged=training.privileged)


class Trainer:
    """Trains one mode.

    Args:
        mode: its name. config: the settings; ``config.training.updates`` is where schedules end.
        device: where everything is computed.
        processes: those that train the same network, each with its share of the games.

    Raises UsageError where the games or the batch cannot be shared by the processes.
    """

    def __init__(
        self, mode: str, config: Config, device: torch.device | str = "cpu", processes: Processes = ALONE
    ) -> None:
        self.mode, self.config, self.device = MODES[mode], config, torch.device(device)
        self.network = network_config(config, self.device)
        self._processes = processes
        self.update = self.timesteps = 0
        self.seconds = Seconds(0.0, 0.0)
        self._times: list[float] = []
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

    def step(self) -> Updated:
        """One update: play, then learn. Raises TrainingDiverged where a loss is no longer a number."""
        begun = time.perf_counter()
        rollout = self.player.play(self.config.training.steps_per_env, self.learner.judge)
        episodes = self._episodes(rollout.episodes)  # waits for the device
        played = time.perf_counter()
        rates = rates_at(self.update, self.config.training.updates, self.config.training)
        learned = self.learner.learn(rollout, rates)
        self.seconds = Seconds(played - begun, time.perf_counter() - played)
        self._times.append(self.seconds.all)
        self.update += 1
        self.timesteps += self.config.batch_size
        if not all(math.isfinite(each) for each in (learned.policy_loss, learned.value_loss, learned.grad_norm)):
            raise TrainingDiverged(
                f"Training {self.mode.name} diverged in update {self.update}: the loss is no longer a number; start "
                "again with a lower learning_rate."
            )
        said = learned._asdict()
        probs = said.pop("action_probs")
        row = {
            "mode": self.mode.name,
            "update": self.update,
            "updates": self.config.training.updates,
            "timesteps": self.timesteps,
            "episode_reward": _mean([each["reward"] for each in episodes]),
            "episode_length": _mean([each["length"] for each in episodes]),
            "episodes": len(episodes),
            **said,
            **rates._asdict(),
            "steps_per_second": self.config.batch_size / self.seconds.all,
            "seconds_left": (self.config.training.updates - self.update) * sum(self._times) / len(self._times),
            **{f"action_prob_{action}": probs[action] for action in range(len(ACTIONS))},
        }
        return Updated(row, episodes)

    def model(self) -> Model:
        """The agent as it is now; its values are in units of reward."""
        policy = copy.deepcopy(self.learner.policy).cpu()
        now = self.learner.popart
        scale = PopArt(policy.value, 1.0)
        scale.mean, scale.deviation = now.mean.cpu(), now.deviation.cpu()
        scale.move(torch.zeros(()), torch.ones(()))
        return Model(self.mode.name, self.network, self.config.plain(), self.update, self.timesteps, policy)

    def state(self) -> dict[str, Any]:
        """Everything that training goes on from, plain values and tensors on the CPU; of all processes together."""
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

    def _episodes(self, finished: Tensor) -> list[Row]:
        """The episodes that ended, of all processes, in the order in which they did."""
        rows = [row for share in self._processes.gathered(finished.cpu().tolist()) for row in share]
        games = self.config.training.n_envs
        found: list[Row] = []
        for step, *rest in sorted(rows, key=lambda row: row[:2]):
            numbers = dict(zip(EPISODE[1:], rest, strict=True))
            whole = {name: int(value) for name, value in numbers.items() if name != "reward"}
            timesteps = self.timesteps + (int(step) + 1) * games
            found.append({"update": self.update + 1, "timesteps": timesteps, **numbers, **whole})
        return found


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _on_cpu(value: Any) -> Any:  # noqa: ANN401 - plain values and tensors, nested
    if isinstance(value, Tensor):
        return value.cpu()
    return {name: _on_cpu(each) for name, each in value.items()} if isinstance(value, dict) else value

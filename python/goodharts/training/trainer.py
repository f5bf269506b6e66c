"""One mode's training, update by update, in memory alone; what plays and learns is an engine's."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from goodharts.architecture import NetworkConfig
from goodharts.config import Config
from goodharts.models import Model
from goodharts.rules import ACTIONS, MODES
from goodharts.training.rates import Rates, rates_at
from worldkit.runs.run import TrainingDiverged

Row = Mapping[str, Any]
"""What an update says of itself: plain values by name, None where there is nothing to say."""
EPISODE = ("step", "game", "length", "reward", "food", "poison", "terminated")
"""The columns of finished episodes; step: of the rollout, from 0."""


class Seconds(NamedTuple):
    """How long the latest update took, and its two parts."""

    playing: float
    learning: float

    @property
    def all(self) -> float:
        """Both together."""
        return self.playing + self.learning


class Learned(NamedTuple):
    """What an update says of itself: means over its gradient steps, of all processes; ``action_probs`` has eight."""

    policy_loss: float
    value_loss: float
    entropy: float
    approx_kl: float
    clip_fraction: float
    entropy_floor_penalty: float
    grad_norm: float
    explained_variance: float
    action_probs: list[float]


class Updated(NamedTuple):
    """What an update gave. episodes: those that ended in it, by name, of all processes."""

    row: Row
    episodes: list[Row]


class Trainer(ABC):
    """Trains one mode; ``config.training.updates`` is where schedules end.

    Attributes:
        engine: its name, as the settings have it.
        network: what is trained.
        update, timesteps: how many there were.
        seconds: how long the latest update took.
        is_first: whether this process writes and speaks. processes: how many train together.
    """

    engine: ClassVar[str]
    is_first: bool = True
    processes: int = 1

    def __init__(self, mode: str, config: Config, network: NetworkConfig) -> None:
        self.mode, self.config, self.network = MODES[mode], config, network
        self.update = self.timesteps = 0
        self.seconds = Seconds(0.0, 0.0)
        self._times: list[float] = []

    @property
    def is_done(self) -> bool:
        """Whether all updates are done."""
        return self.update >= self.config.training.updates

    def step(self) -> Updated:
        """One update: play, then learn. Raises TrainingDiverged where a loss is no longer a number."""
        rates = rates_at(self.update, self.config.training.updates, self.config.training)
        learned, finished, self.seconds = self._play_and_learn(rates)
        episodes = self._episodes(finished)
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

    def any(self, flag: bool) -> bool:
        """Whether it is true in any process that takes part."""
        return flag

    def first_says(self, flag: bool) -> bool:
        """What the first process says, in all of them: clocks differ."""
        return flag

    @property
    @abstractmethod
    def parameters(self) -> int:
        """How many weights there are."""

    @property
    @abstractmethod
    def place(self) -> str:
        """The device in words."""

    @property
    @abstractmethod
    def precision(self) -> str:
        """What matrix products are computed in."""

    @property
    @abstractmethod
    def versions(self) -> Mapping[str, str]:
        """Of the libraries that compute."""

    @abstractmethod
    def model(self) -> Model:
        """The agent as it is now; its values are in units of reward."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Everything that training goes on from, plain values and torch's tensors on the CPU."""

    @abstractmethod
    def restore(self, update: int, timesteps: int, state: Mapping[str, Any]) -> None:
        """Go on from a ``state`` after so many updates; raises Unreadable where it does not fit."""

    @abstractmethod
    def _play_and_learn(self, rates: Rates) -> tuple[Learned, Iterable[Sequence[float]], Seconds]:
        """One update: what it learned, the episodes that ended with the columns ``EPISODE``, and how long it took."""

    def _episodes(self, finished: Iterable[Sequence[float]]) -> list[Row]:
        """The episodes that ended, in the order in which they did."""
        games = self.config.training.n_envs
        found: list[Row] = []
        for step, *rest in sorted(finished, key=lambda row: tuple(row[:2])):
            numbers = dict(zip(EPISODE[1:], rest, strict=True))
            whole = {name: int(value) for name, value in numbers.items() if name != "reward"}
            timesteps = self.timesteps + (int(step) + 1) * games
            found.append({"update": self.update + 1, "timesteps": timesteps, **numbers, **whole})
        return found


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None

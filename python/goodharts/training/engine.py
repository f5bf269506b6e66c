"""The interface of what trains a mode: the torch PPO, or worldkit's in JAX."""

from __future__ import annotations

from abc import ABC, abstractmethod

from goodharts.config import Config
from goodharts.training.runs import ModeRun
from parity.errors import ParityError


class Engine(ABC):
    """Trains modes."""

    @abstractmethod
    def check(self, config: Config) -> None:
        """Raises UsageError where these settings cannot be trained with, here and with this engine."""

    @abstractmethod
    def share_cores(self, processes: int) -> None:
        """Let this process use its share of the cores, before it trains."""

    @abstractmethod
    def train(self, run: ModeRun) -> None:
        """Train until the run's updates are done or it is asked to stop, and save; raises UsageError as ``check``."""

    @abstractmethod
    def explained(self, error: Exception, mode: str) -> ParityError | None:
        """What an error of training means to its user; None for one that should not be."""


def out_of_memory(mode: str, place: str) -> ParityError:
    """What to say where training needs more memory than there is."""
    return ParityError(
        f"Training {mode} needs more memory than {place} has: give fewer --n-envs, or more minibatches in config.toml."
    )

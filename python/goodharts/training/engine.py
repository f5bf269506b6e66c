"""What a run needs of what plays and learns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

from goodharts.config import Config
from goodharts.training.trainer import Trainer
from parity.errors import ParityError


class Engine(ABC):
    """Opens trainers."""

    @abstractmethod
    def check(self, config: Config) -> None:
        """Raises UsageError where these settings cannot be trained with, here and with this engine."""

    @abstractmethod
    def share_cores(self, processes: int) -> None:
        """Let this process use its share of the cores, before it opens a trainer."""

    @abstractmethod
    def opened(self, mode: str, config: Config) -> AbstractContextManager[Trainer]:
        """A trainer of a mode; raises UsageError as ``check`` does."""

    @abstractmethod
    def explained(self, error: Exception, mode: str) -> ParityError | None:
        """What an error of a trainer means to its user; None for one that should not be."""


def out_of_memory(mode: str, place: str) -> ParityError:
    """What to say where a trainer needs more than there is."""
    return ParityError(
        f"Training {mode} needs more memory than {place} has: give fewer --n-envs, or more minibatches in config.toml."
    )

"""Kinds and sizes of the networks (G8), for torch and JAX."""

from dataclasses import dataclass
from math import prod
from typing import Literal

from goodharts.config import Training
from goodharts.rules import OBSERVATION_SHAPE

NetworkKind = Literal["cnn", "mlp"]
NETWORKS: tuple[NetworkKind, NetworkKind] = ("cnn", "mlp")
CHANNELS = (32, 64, 64)
"""Output channels of the convolutions of a ``cnn``."""
SEEN = prod(OBSERVATION_SHAPE)
"""Number of values of an observation."""
CELLS = SEEN // OBSERVATION_SHAPE[0]
"""Number of values of one channel."""
PRIVILEGES = 2 + SEEN
"""Inputs of the critic alone: both counts of the episode in [-1, 1], and the ground-truth view."""


@dataclass(frozen=True)
class NetworkConfig:
    """Kind and size of a network. kind: ``cnn``, or ``mlp`` for CPUs. privileged: the critic has more inputs (G8)."""

    kind: NetworkKind = "cnn"
    hidden: int = 512
    privileged: bool = True


def network_config(training: Training, on_cpu: bool) -> NetworkConfig:
    """The network for these settings; ``auto`` is the mlp on a CPU, and the cnn elsewhere."""
    auto: NetworkKind = "mlp" if on_cpu else "cnn"
    return NetworkConfig(auto if training.network == "auto" else training.network, training.hidden, training.privileged)

"""Kinds and sizes of the networks (G8), for torch and JAX."""

from dataclasses import asdict, dataclass
from math import prod
from typing import Any, Literal

from goodharts.config import Training
from goodharts.rules import OBSERVATION_SHAPE

NetworkKind = Literal["cnn", "mlp"]
NETWORKS: tuple[NetworkKind, NetworkKind] = ("cnn", "mlp")
SEEN = prod(OBSERVATION_SHAPE)
"""Numbers of an observation."""
CELLS = SEEN // OBSERVATION_SHAPE[0]
"""Those of one channel."""
PRIVILEGES = 2 + SEEN
"""Inputs of the critic alone: both counts of the episode in [-1, 1], and the ground-truth view."""


@dataclass(frozen=True)
class NetworkConfig:
    """A network's size. kind: ``cnn`` or ``mlp``, for CPUs. privileged: whether the critic knows more (G8)."""

    kind: NetworkKind = "cnn"
    channels: tuple[int, ...] = (32, 64, 64)
    hidden: int = 512
    privileged: bool = True

    def plain(self) -> dict[str, Any]:
        """Return plain values, for files."""
        return {**asdict(self), "channels": list(self.channels)}


def network_config(training: Training, on_cpu: bool) -> NetworkConfig:
    """The network that settings ask for; ``auto`` is the mlp on a CPU, and the cnn elsewhere."""
    auto: NetworkKind = "mlp" if on_cpu else "cnn"
    kind = auto if training.network == "auto" else training.network
    return NetworkConfig(kind, hidden=training.hidden, privileged=training.privileged)

"""Trained parameters as something that plays."""

from collections.abc import Callable, Mapping
from pathlib import Path

from jax import Array

from worldkit.purejaxrl.checkpointing import load_params
from worldkit.purejaxrl.networks import network_of
from worldkit.purejaxrl.train_env import Encoder


def load_logits(path: Path, networks: Mapping[str, Encoder | None]) -> Callable[[Array], Array]:
    """The network whose parameters the trainer wrote as ``params_*.npz``: observations (n, ...) to logits (n, actions).

    ``networks`` are those of the world. Raises ParityError, with one sentence, for any other file.
    """
    params = load_params(path)
    network = network_of(params, networks)
    return lambda observations: network.apply(params, observations)[0]

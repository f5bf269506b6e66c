"""Trained parameters as something that plays."""

from collections.abc import Callable, Mapping
from pathlib import Path

from flax.errors import FlaxError
from jax import Array

from parity.errors import ParityError
from worldkit.purejaxrl.checkpointing import load_params
from worldkit.purejaxrl.networks import network_of
from worldkit.purejaxrl.train_env import Encoder


def load_logits(path: Path, networks: Mapping[str, Encoder | None]) -> Callable[[Array], Array]:
    """The network whose parameters the trainer wrote as ``params_*.npz``: observations (n, ...) to logits (n, actions).

    ``networks`` are those of the world. Raises ParityError, with one sentence, for any other file; so does the
    function, called with observations that are not those of the network.
    """
    params = load_params(path)
    network = network_of(params, networks)

    def logits(observations: Array) -> Array:
        try:
            return network.apply(params, observations)[0]
        except (FlaxError, TypeError, ValueError) as error:
            raise ParityError(
                f"{path} holds the parameters of a network for other observations than this world's, "
                "or only some of them; give another params_*.npz file."
            ) from error

    return logits

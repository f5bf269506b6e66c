"""Trained parameters as something that plays."""

from collections.abc import Callable, Mapping
from pathlib import Path

import jax
from flax.errors import FlaxError
from jax import Array
from jax.typing import ArrayLike

from worldkit.purejaxrl.networks import network_of
from worldkit.purejaxrl.params import load_params, misfit
from worldkit.purejaxrl.train_env import Encoder


def load_logits(path: Path, networks: Mapping[str, Encoder | None]) -> Callable[[ArrayLike], Array]:
    """The network whose parameters the trainer wrote as ``params_*.npz``: observations (n, ...) to logits (n, actions).

    The function is compiled. ``networks`` are those of the world. Raises ParityError, with one sentence, for any other
    file; so does the function, called with observations that are not those of the network.
    """
    params = load_params(path)
    network = network_of(params, networks)

    @jax.jit
    def logits(observations: ArrayLike) -> Array:
        try:
            return network.apply(params, observations)[0]
        except (FlaxError, TypeError, ValueError) as error:
            raise misfit(path) from error

    return logits

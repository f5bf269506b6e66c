"""Trained parameters as something that plays."""

from collections.abc import Callable, Mapping
from pathlib import Path

import jax
import jax.numpy as jnp
from flax.errors import FlaxError
from jax import Array
from jax.typing import ArrayLike

from worldkit.jaxkit.env import Encoder, JaxEnv
from worldkit.purejaxrl.networks import ActorCritic, network_of
from worldkit.purejaxrl.params import Params, load_params, misfit, other_actions


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
            return network.clone(observation_axes=jnp.ndim(observations) - 1).apply(params, observations)[0]
        except (FlaxError, TypeError, ValueError) as error:
            raise misfit(path) from error

    return logits


def load_network(path: Path, env: JaxEnv) -> tuple[ActorCritic, Params]:
    """The network whose parameters the trainer of this world wrote as ``params_*.npz``, and the parameters.

    Raises ParityError, with one sentence, for any other file.
    """
    params = load_params(path)
    network = network_of(params, env.networks(), len(env.observation_shape))
    observations = jax.ShapeDtypeStruct((1, *env.observation_shape), jnp.float32)
    try:
        logits, _ = jax.eval_shape(network.apply, params, observations)
    except (FlaxError, TypeError, ValueError) as error:
        raise misfit(path) from error
    if logits.shape[1] != env.num_actions:
        raise other_actions(path, env.num_actions)
    return network, params

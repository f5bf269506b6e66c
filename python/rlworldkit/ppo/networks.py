"""The actor-critic network; a world contributes only encoders."""

import math
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from rlworldkit.jax.env import Encoder
from rlworldkit.ppo.config import Activation
from rlworldkit.ppo.params import (
    CRITIC,
    Architecture,
    Params,
    architecture_of,
    hidden_layer,
)
from rlworldkit.ppo.value_heads import HEADS, PLAIN, ValueHead, values_of


class ActorCritic(nn.Module):
    """A network with one trunk and two heads: (logits (..., num_actions), value (...)), float32.

    The trunk is shared because nearly all the work lies in its first layer, which reads the observation.
    """

    num_actions: int
    hidden_dim: int = 256
    num_layers: int = 2
    dtype: str = "float32"
    """Dtype of the trunk; parameters, logits and values are always float32."""
    encoder: Encoder | None = None
    """Encodes the observation before the first hidden layer; None flattens it."""
    encoder_name: str = "encoder"
    """Name of the encoder's parameters."""
    value_head: ValueHead = PLAIN
    observation_axes: int = 1
    """Number of axes of an observation."""
    num_privileges: int = 0
    """Number of privileged values that the critic reads beside the trunk, through a layer of its own."""
    activation: Activation = "tanh"

    def __call__(self, obs: Array, privileges: Array | None = None) -> tuple[Array, Array]:
        """Evaluate observations, float32 (..., *shape), and ``JaxEnv.privileges``, (..., num_privileges).

        Without privileges the value is computed with zeros; the logits do not depend on them.
        """
        logits, outputs = self.outputs(obs, privileges)
        return logits, values_of(self.value_head, outputs, jnp)

    @nn.compact
    def outputs(self, obs: Array, privileges: Array | None = None, is_sorted: bool = False) -> tuple[Array, Array]:
        """Like ``__call__``, but with the raw outputs of the value head, float32 (..., outputs), instead of values.

        ``is_sorted``: observations (samples, *shape) are sorted by ``JaxEnv.sort_key``.
        """
        symmetry, turn = getattr(self.encoder, "symmetry", None), None
        if symmetry:
            flat, turn = symmetry.turned(obs.reshape(-1, *obs.shape[obs.ndim - self.observation_axes :]), jnp)
            obs = flat.reshape(obs.shape)
        if self.encoder:
            hidden = self.encoder(dtype=self.dtype, name=self.encoder_name)(obs)
        else:
            leading = obs.ndim - self.observation_axes
            hidden = obs.reshape(*obs.shape[:leading], math.prod(obs.shape[leading:]))
        activate = getattr(nn, self.activation)
        first_layer = getattr(self.encoder, "first_layer", None)
        for number in range(self.num_layers):
            dense = nn.Dense if number or not first_layer else partial(first_layer, is_sorted=is_sorted)
            dtype, init = jnp.dtype(self.dtype), nn.initializers.orthogonal(2**0.5)
            name = hidden_layer(self.activation, number)
            hidden = activate(dense(self.hidden_dim, dtype=dtype, kernel_init=init, name=name)(hidden))
        hidden = hidden.astype(jnp.float32)
        logits = nn.Dense(self.num_actions, kernel_init=nn.initializers.orthogonal(0.01), name="policy")(hidden)
        if symmetry:
            logits = symmetry.turned_back(logits.reshape(-1, self.num_actions), turn, jnp).reshape(logits.shape)
        if self.num_privileges:
            known = jnp.zeros((*hidden.shape[:-1], self.num_privileges)) if privileges is None else privileges
            critic = nn.Dense(self.hidden_dim, kernel_init=nn.initializers.orthogonal(2**0.5), name=CRITIC)
            hidden = activate(critic(jnp.concatenate([hidden, known], axis=-1)))
        head = HEADS[self.value_head]
        return logits, nn.Dense(head.outputs, kernel_init=nn.initializers.orthogonal(1.0), name=head.layer)(hidden)


# A TrainState compares its network and optimizer by identity. The cache makes the states of equal settings
# equal, so that they share compiled functions.
@cache
def make_network(
    name: str,
    encoder: Encoder | None,
    num_actions: int,
    hidden_dim: int,
    num_layers: int,
    **settings: Any,  # noqa: ANN401 - as they come
) -> ActorCritic:
    """Build a network, cached; ``name`` is that of the encoder, ``settings`` are further fields of ``ActorCritic``."""
    return ActorCritic(num_actions, hidden_dim, num_layers, encoder=encoder, encoder_name=name, **settings)


def network_for(
    found: Architecture, networks: Mapping[str, Encoder | None], observation_axes: int = 1, dtype: str = "float32"
) -> ActorCritic:
    """Build the network of this architecture; ``networks`` are encoders by name."""
    settings = {**found._asdict(), "observation_axes": observation_axes, "dtype": dtype}
    return make_network(settings.pop("name"), networks.get(found.name), **settings)


def network_of(params: Params, networks: Mapping[str, Encoder | None], observation_axes: int = 1) -> ActorCritic:
    """Build the network that ``params`` belong to; its architecture is read from their shapes.

    Raises ParityError if they are not parameters of an ``ActorCritic``.
    """
    encoders = [name for name, encoder in networks.items() if encoder]
    return network_for(architecture_of(params, encoders), networks, observation_axes)

"""What the policy and the value are computed by. A world brings encoders; the rest is here."""

import functools
import math
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import jax.numpy as jnp
from flax import linen as nn
from flax.typing import Initializer
from jax import Array

from worldkit.purejaxrl.params import Params, architecture_of
from worldkit.purejaxrl.train_env import Encoder
from worldkit.purejaxrl.value_heads import HEADS, PLAIN, ValueHead, values_of


@runtime_checkable
class Laid(Protocol):
    """What an encoder makes of observations where there is a faster way to multiply it than to lay it out."""

    @property
    def width(self) -> int:
        """How many numbers the first hidden layer reads of an observation."""

    def times(self, kernel: Array, side_by_side: bool) -> Array:
        """Its product with a kernel (width, outputs): (..., outputs).

        ``side_by_side``: it is known of observations with one leading axis that those that are alike lie so
        (`TrainEnv.likeness`).
        """


class FirstLayer(nn.Module):
    """The first hidden layer of what an encoder laid out: `nn.Dense` and its parameters."""

    features: int
    dtype: jnp.dtype
    kernel_init: Initializer

    @nn.compact
    def __call__(self, laid: Laid, side_by_side: bool) -> Array:
        """(..., features)."""
        kernel = self.param("kernel", self.kernel_init, (laid.width, self.features))
        bias = self.param("bias", nn.initializers.zeros_init(), (self.features,))
        return laid.times(kernel.astype(self.dtype), side_by_side) + bias.astype(self.dtype)


class ActorCritic(nn.Module):
    """A tanh network with one trunk and two heads: (logits (..., num_actions), value (...)), float32.

    The trunk is shared because nearly all the work lies in its first layer, which reads the observation.
    """

    num_actions: int
    hidden_dim: int = 256
    num_layers: int = 2
    dtype: str = "float32"
    """What the trunk computes in; parameters, logits and values are float32 in any case."""
    encoder: Encoder | None = None
    """Lays the observation out before the first hidden layer; None reads it flat."""
    encoder_name: str = "encoder"
    """Under which name the encoder's parameters are kept."""
    value_head: ValueHead = PLAIN
    observation_axes: int = 1
    """How many axes an observation has."""

    def __call__(self, obs: Array) -> tuple[Array, Array]:
        """Evaluate observations, float32 (..., *shape)."""
        logits, outputs = self.outputs(obs)
        return logits, values_of(self.value_head, outputs, jnp)

    @nn.compact
    def outputs(self, obs: Array, side_by_side: bool = False) -> tuple[Array, Array]:
        """As ``__call__``, with what the value's layer gives, float32 (..., outputs), instead of values.

        ``side_by_side``: of observations (samples, *shape) those that are alike lie so (`TrainEnv.likeness`).
        """
        if self.encoder:
            hidden = self.encoder(dtype=self.dtype, name=self.encoder_name)(obs)
        else:
            leading = obs.ndim - self.observation_axes
            hidden = obs.reshape(*obs.shape[:leading], math.prod(obs.shape[leading:]))
        for layer in range(self.num_layers):
            dtype, init, name = jnp.dtype(self.dtype), nn.initializers.orthogonal(2**0.5), f"hidden_{layer}"
            if isinstance(hidden, Laid):
                hidden = FirstLayer(self.hidden_dim, dtype, init, name=name)(hidden, side_by_side)
            else:
                hidden = nn.Dense(self.hidden_dim, dtype=dtype, kernel_init=init, name=name)(hidden)
            hidden = nn.tanh(hidden)
        hidden = hidden.astype(jnp.float32)
        logits = nn.Dense(self.num_actions, kernel_init=nn.initializers.orthogonal(0.01), name="policy")(hidden)
        head = HEADS[self.value_head]
        return logits, nn.Dense(head.outputs, kernel_init=nn.initializers.orthogonal(1.0), name=head.layer)(hidden)


# A TrainState compares its network and its optimizer by identity; cached, equal settings make equal
# states, and a compiled function accepts any of them.
@functools.cache
def make_network(
    name: str,
    encoder: Encoder | None,
    num_actions: int,
    hidden_dim: int,
    num_layers: int,
    dtype: str = "float32",
    value_head: ValueHead = PLAIN,
    observation_axes: int = 1,
) -> ActorCritic:
    """The network of this name and encoder, these sizes and settings."""
    return ActorCritic(num_actions, hidden_dim, num_layers, dtype, encoder, name, value_head, observation_axes)


def network_of(params: Params, networks: Mapping[str, Encoder | None], observation_axes: int = 1) -> ActorCritic:
    """The network that ``params`` belong to, its architecture read from their shapes.

    Raises ParityError if they are the parameters of something else.
    """
    found = architecture_of(params, [name for name, encoder in networks.items() if encoder])
    return make_network(
        found.name,
        networks.get(found.name),
        found.num_actions,
        found.hidden_dim,
        found.num_layers,
        value_head=found.value_head,
        observation_axes=observation_axes,
    )

"""What the policy and the value are computed by: a choice of ``--network``, never an edit of the loop."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from parity.errors import ParityError

Params = Any  # nested dicts of arrays, as flax makes them

BOARD = 6
PLAYER_FEATURES, PROGRAMS, CELL_FEATURES = 10, 23, 42  # O1, O2, O3
SIGHT = 2 * BOARD - 1  # a view of this width, its middle at the player, holds the board wherever the player stands


class PlayerCentred(nn.Module):
    """The board as seen from the player's cell: float32 (..., 1545) to (..., features).

    An observation names the player's cell in two numbers and the board in absolute cells, so a plain network must
    learn anew for each of 36 cells what an enemy next to the player means. Here every cell is embedded alike, and the
    embeddings are laid out around the player, 0 off the board: what is one step above lies at one place of the
    output, wherever the player stands. What is not on the board (O1, O2) and the player's row and column, one-hot,
    follow.
    """

    cell_features: int = 16
    dtype: str = "float32"

    @nn.compact
    def __call__(self, obs: Array) -> Array:
        """Embed the cells of observations and lay them out."""
        apart = PLAYER_FEATURES + PROGRAMS
        cells = obs[..., apart:].reshape(*obs.shape[:-1], BOARD, BOARD, CELL_FEATURES)
        embedded = nn.tanh(nn.Dense(self.cell_features, dtype=jnp.dtype(self.dtype), name="cell")(cells))
        place = jnp.round(obs[..., :2] * (BOARD - 1)).astype(jnp.int32)  # O1: row/5, column/5
        seen = jnp.vectorize(_around, signature="(r,c,f),(p)->(s,s,f)")(embedded, place)
        parts = (seen, obs[..., :apart], jax.nn.one_hot(place, BOARD))
        return jnp.concatenate([part.reshape(*obs.shape[:-1], -1).astype(seen.dtype) for part in parts], axis=-1)


def _around(board: Array, place: Array) -> Array:
    """One board (6, 6, features) in a field (11, 11, features) whose middle is the cell ``place``, int32 (2,)."""
    field = jnp.zeros((SIGHT, SIGHT, board.shape[-1]), board.dtype)
    # written, not read: backwards this is a read, the other way round it would be a slow scatter
    return jax.lax.dynamic_update_slice(field, board, (BOARD - 1 - place[0], BOARD - 1 - place[1], 0))


class ActorCritic(nn.Module):
    """A tanh network with one trunk and two heads: (logits (..., num_actions), value (...)), float32.

    The trunk is shared because nearly all the work lies in its first layer, which reads 1545 inputs, or 1981 of
    PlayerCentred.
    """

    num_actions: int = 28
    hidden_dim: int = 256
    num_layers: int = 2
    dtype: str = "float32"
    """What the trunk computes in; parameters, logits and values are float32 in any case."""
    is_centred: bool = False
    """Whether the trunk reads the observation through PlayerCentred instead of flat."""

    @nn.compact
    def __call__(self, obs: Array) -> tuple[Array, Array]:
        """Evaluate observations, float32 (..., features)."""
        hidden = PlayerCentred(dtype=self.dtype, name="centred")(obs) if self.is_centred else obs
        for layer in range(self.num_layers):
            dense = nn.Dense(
                self.hidden_dim,
                dtype=jnp.dtype(self.dtype),
                kernel_init=nn.initializers.orthogonal(2**0.5),
                name=f"hidden_{layer}",
            )
            hidden = nn.tanh(dense(hidden))
        hidden = hidden.astype(jnp.float32)
        logits = nn.Dense(self.num_actions, kernel_init=nn.initializers.orthogonal(0.01), name="policy")(hidden)
        value = nn.Dense(1, kernel_init=nn.initializers.orthogonal(1.0), name="value")(hidden)
        return logits, jnp.squeeze(value, axis=-1)


# A TrainState compares its network and its optimizer by identity; cached, equal settings make equal
# states, and a compiled function accepts any of them.
@functools.cache
def make_network(
    network: str,
    num_actions: int,
    hidden_dim: int,
    num_layers: int,
    dtype: str = "float32",
) -> ActorCritic:
    """The network of this name (``--network``), these sizes and settings."""
    return ActorCritic(num_actions, hidden_dim, num_layers, dtype, is_centred=network == "centred")


def network_of(params: Params) -> ActorCritic:
    """The network that ``params`` belong to, its architecture read from their shapes.

    Raises ParityError if they are the parameters of something else.
    """
    try:
        layers = params["params"]
        hidden_dim = layers["hidden_0"]["kernel"].shape[1]
        num_actions = layers["policy"]["kernel"].shape[1]
    except (KeyError, TypeError, IndexError, AttributeError):
        raise ParityError("These parameters are not those of an ActorCritic; give a params_*.npz file.") from None
    return ActorCritic(
        num_actions=num_actions,
        hidden_dim=hidden_dim,
        num_layers=sum(name.startswith("hidden_") for name in layers),
        is_centred="centred" in layers,
    )

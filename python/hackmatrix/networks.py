"""The game's own network: the board as it lies around the player."""

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from hackmatrix.rules import CELL_FEATURES, GRID_PART, PLAYER_PART, SIZE
from hackmatrix.train_config import CENTRED, MLP

SIGHT = 2 * SIZE - 1
"""A view of this width, its middle at the player, holds the board wherever the player stands."""


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
        cells = obs[..., GRID_PART].reshape(*obs.shape[:-1], SIZE, SIZE, len(CELL_FEATURES))
        embedded = nn.tanh(nn.Dense(self.cell_features, dtype=jnp.dtype(self.dtype), name="cell")(cells))
        place = jnp.round(obs[..., PLAYER_PART][..., :2] * (SIZE - 1)).astype(jnp.int32)  # O1: row/5, column/5
        seen = jnp.vectorize(_around, signature="(r,c,f),(p)->(s,s,f)")(embedded, place)
        parts = (seen, obs[..., : GRID_PART.start], jax.nn.one_hot(place, SIZE))
        return jnp.concatenate([part.reshape(*obs.shape[:-1], -1).astype(seen.dtype) for part in parts], axis=-1)


def _around(board: Array, place: Array) -> Array:
    """One board (6, 6, features) in a field (11, 11, features) whose middle is the cell ``place``, int32 (2,)."""
    field = jnp.zeros((SIGHT, SIGHT, board.shape[-1]), board.dtype)
    # written, not read: backwards this is a read, the other way round it would be a slow scatter
    return jax.lax.dynamic_update_slice(field, board, (SIZE - 1 - place[0], SIZE - 1 - place[1], 0))


NETWORKS = {CENTRED: PlayerCentred, MLP: None}
"""The networks of ``--network``, by name."""

"""The game's own networks: the board as it lies around the player."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from hackmatrix.egocentric import EgocentricBoard, FirstLayer
from hackmatrix.rules import CELL_FEATURES, DIRECTIONS, GRID_PART, PLAYER_PART, SIZE
from hackmatrix.train_config import CENTRED, CONV, MLP

CROSS = ((0, 0), *DIRECTIONS)
"""A cell and its neighbours, which are also what a siphon reaches (S1)."""


class PlayerCentred(nn.Module):
    """The board as seen from the player's cell, of observations float32 (..., 1545).

    An observation names the player's cell in two numbers and the board in absolute cells, so a plain network must
    learn anew for each of 36 cells what an enemy next to the player means. Here every cell is embedded alike, and the
    embeddings are laid out around the player, 0 off the board: what is one step above lies at one place of the
    output, wherever the player stands. What is not on the board (O1, O2) and the player's row and column, one-hot,
    follow.
    """

    first_layer: ClassVar[type[nn.Module]] = FirstLayer
    rounds: ClassVar[int] = 0
    """Rounds in which a cell's embedding takes in those of its neighbours."""
    cell_features: int = 16
    dtype: str = "float32"

    @nn.compact
    def __call__(self, obs: Array) -> EgocentricBoard:
        """Embed the cells of observations, each with what its neighbours hold."""
        dtype = jnp.dtype(self.dtype)
        cells = obs[..., GRID_PART].reshape(*obs.shape[:-1], SIZE, SIZE, len(CELL_FEATURES))
        board = nn.tanh(nn.Dense(self.cell_features, dtype=dtype, name="cell")(cells))
        for number in range(self.rounds):
            dense = nn.Dense(self.cell_features, dtype=dtype, name=f"round_{number}")
            board = board + nn.tanh(dense(_crosses(board)))
        return _seen_by_player(board, obs)


class Conv(PlayerCentred):
    """As `PlayerCentred`, but a cell's embedding also holds the cells around it.

    A round adds to every cell's embedding what follows from its own and its four neighbours', 0 off the board; all
    cells do so alike. After two rounds it holds the cells up to two steps away: what a siphon there would give,
    which way a block leaves open, which enemy can come beside it.
    So it takes half the features of a cell, and the first hidden layer, which is most of the work, half the time.
    """

    rounds: ClassVar[int] = 2
    cell_features: int = 8


def _crosses(board: Array) -> Array:
    """Each cell of boards (..., 6, 6, features) with its neighbours, (..., 6, 6, 5 * features).

    A product of matrices with this is a convolution, which XLA is slow at on CPUs.
    """
    edged = jnp.pad(board, [(0, 0)] * (board.ndim - 3) + [(1, 1), (1, 1), (0, 0)])
    parts = [edged[..., 1 + row :, 1 + column :, :][..., :SIZE, :SIZE, :] for row, column in CROSS]
    return jnp.concatenate(parts, axis=-1)


def _seen_by_player(board: Array, obs: Array) -> EgocentricBoard:
    """Boards (..., 6, 6, features) as they lie around the player, with the rest of the observations."""
    place = jnp.round(obs[..., PLAYER_PART][..., :2] * (SIZE - 1)).astype(jnp.int32)  # O1: row/5, column/5
    one_hot = jax.nn.one_hot(place, SIZE).reshape(*obs.shape[:-1], -1)
    others = jnp.concatenate([obs[..., : GRID_PART.start], one_hot], axis=-1)
    return EgocentricBoard(board, place, others.astype(board.dtype))


NETWORKS = {CENTRED: PlayerCentred, CONV: Conv, MLP: None}
"""The networks of ``--network``, by name."""

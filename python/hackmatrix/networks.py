"""HackMatrix's networks, which see the board as it lies around the player."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jax import Array

from hackmatrix.egocentric import EgocentricBoard, FirstLayer
from hackmatrix.rules import CELL_FEATURES, DIRECTIONS, GRID_PART, NUM_CELLS, PLAYER_PART, SIZE
from hackmatrix.train_config import CENTRED, CONV, MLP, TURNED
from hackmatrix.turned import NEAR, SYMMETRY
from rlworldkit.ppo.symmetry import Symmetry

CROSS = ((0, 0), *DIRECTIONS)
"""Offsets of a cell and its neighbours, which are also the cells that a siphon reaches (S1)."""


class PlayerCentred(nn.Module):
    """The board as seen from the player's cell, of observations float32 (..., 1545).

    An observation names the player's cell in two numbers and the board in absolute cells, so a plain network must
    learn separately for each of 36 cells what an enemy next to the player means. Here every cell is embedded by the
    same layer, and the embeddings are laid out around the player, 0 off the board: the cell one step above is at the
    same place of the output wherever the player stands. The values that are not on the board (O1, O2) and the player's
    row and column, one-hot, follow.
    """

    first_layer: ClassVar[type[nn.Module]] = FirstLayer
    rounds: ClassVar[int] = 0
    """Rounds in which the embeddings of its neighbours are added to a cell's embedding."""
    cell_features: int = 16
    dtype: str = "float32"

    @nn.compact
    def __call__(self, obs: Array) -> EgocentricBoard:
        """Embed the cells of observations, and add those of their neighbours in each round."""
        dtype = jnp.dtype(self.dtype)
        cells = obs[..., GRID_PART].reshape(*obs.shape[:-1], SIZE, SIZE, len(CELL_FEATURES))
        board = nn.tanh(nn.Dense(self.cell_features, dtype=dtype, name="cell")(cells))
        for number in range(self.rounds):
            dense = nn.Dense(self.cell_features, dtype=dtype, name=f"round_{number}")
            board = board + nn.tanh(dense(_crosses(board)))
        place, one_hot = _place(obs)
        others = jnp.concatenate([obs[..., : GRID_PART.start], one_hot], axis=-1)
        return EgocentricBoard(board, place, others.astype(dtype))


class Conv(PlayerCentred):
    """As `PlayerCentred`, but a cell's embedding also holds the cells around it.

    A round adds to every cell's embedding a function of its own and its four neighbours' embeddings, 0 off the board;
    all cells share the weights. After two rounds an embedding covers the cells up to two steps away: what a siphon
    there would give, which way a block leaves open, which enemy can come beside it.
    Half the features per cell are then enough, and the first hidden layer, most of the work, takes half the time.
    """

    rounds: ClassVar[int] = 2
    cell_features: int = 8


class Turned(nn.Module):
    """Boards turned so that the exit is at the top right, of observations float32 (..., 1545).

    Every cell of the turned board is embedded at its own place. The cells `NEAR` the player are embedded a second time,
    by place around the player, each with a flag for being on the board. The other values of `PlayerCentred` follow.
    """

    symmetry: ClassVar[Symmetry] = SYMMETRY
    cell_features: int = 8
    near_features: int = 12
    dtype: str = "float32"

    @nn.compact
    def __call__(self, obs: Array) -> Array:
        """Embed the cells of turned observations, (..., 789)."""
        dtype = jnp.dtype(self.dtype)
        cells = obs[..., GRID_PART].reshape(*obs.shape[:-1], NUM_CELLS, len(CELL_FEATURES))
        board = nn.tanh(nn.Dense(self.cell_features, dtype=dtype, name="cell")(cells))
        place, one_hot = _place(obs)
        seen = place[..., None, :] + np.array(NEAR)
        on_board = ((seen >= 0) & (seen < SIZE)).all(axis=-1, keepdims=True)
        cell = (jnp.clip(seen, 0, SIZE - 1) * np.array([SIZE, 1])).sum(axis=-1, keepdims=True)
        near = jnp.where(on_board, jnp.take_along_axis(cells, cell, axis=-2), 0)
        near = jnp.concatenate([near, on_board.astype(near.dtype)], axis=-1)
        near = nn.tanh(nn.Dense(self.near_features, dtype=dtype, name="near")(near))
        parts = (board, near, obs[..., : GRID_PART.start], one_hot)
        return jnp.concatenate([part.reshape(*obs.shape[:-1], -1).astype(dtype) for part in parts], axis=-1)


def _crosses(board: Array) -> Array:
    """Each cell of boards (..., 6, 6, features) with its neighbours, (..., 6, 6, 5 * features).

    A matrix product with the result is a convolution; XLA's own convolutions are slow on CPUs.
    """
    edged = jnp.pad(board, [(0, 0)] * (board.ndim - 3) + [(1, 1), (1, 1), (0, 0)])
    parts = [edged[..., 1 + row :, 1 + column :, :][..., :SIZE, :SIZE, :] for row, column in CROSS]
    return jnp.concatenate(parts, axis=-1)


def _place(obs: Array) -> tuple[Array, Array]:
    """The player's row and column, int32 (..., 2), and both one-hot, float32 (..., 12)."""
    place = jnp.round(obs[..., PLAYER_PART][..., :2] * (SIZE - 1)).astype(jnp.int32)  # O1: row/5, column/5
    return place, jax.nn.one_hot(place, SIZE).reshape(*obs.shape[:-1], -1)


NETWORKS = {CENTRED: PlayerCentred, CONV: Conv, TURNED: Turned, MLP: None}
"""Encoders of the networks of ``--network``, by name."""

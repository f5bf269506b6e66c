"""The game's networks in numpy: what `networks` computes in JAX."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hackmatrix.rules import CELL_FEATURES, GRID_PART, PLAYER_PART, SIZE
from hackmatrix.train_config import CENTRED, MLP
from worldkit.purejaxrl.plain_network import Floats, PlainEncoder, dense

_SIGHT = 2 * SIZE - 1


def centred(params: Mapping[str, Any], observations: Floats) -> Floats:
    """The board as seen from the player's cell, as `networks.PlayerCentred` lays it out: (n, 1545) to (n, features)."""
    if "cell" not in params:
        raise ValueError("there is no embedding of cells")
    count = len(observations)
    cells = observations[:, GRID_PART].reshape(count, SIZE, SIZE, len(CELL_FEATURES))
    embedded = np.tanh(dense(params["cell"], cells))
    places = np.rint(observations[:, PLAYER_PART][:, :2] * (SIZE - 1)).astype(int)  # O1: row/5, column/5
    seen = np.zeros((count, _SIGHT, _SIGHT, embedded.shape[-1]), embedded.dtype)
    for field, board, (row, column) in zip(seen, embedded, places, strict=True):
        field[SIZE - 1 - row : _SIGHT - row, SIZE - 1 - column : _SIGHT - column] = board
    parts = (seen, observations[:, : GRID_PART.start], np.eye(SIZE, dtype=np.float32)[places])
    return np.concatenate([part.reshape(count, -1) for part in parts], axis=1)


PLAIN_NETWORKS: Mapping[str, PlainEncoder | None] = {CENTRED: centred, MLP: None}
"""The networks of ``--network``, by name."""

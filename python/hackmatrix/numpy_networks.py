"""NumPy versions of the networks in `networks`, with the same results as in JAX.

`rlworldkit.export` traces them, so they use only operations that `rlworldkit.export.trace` supports.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from hackmatrix.rules import CELL_FEATURES, DIRECTIONS, GRID_PART, NUM_CELLS, PLAYER_PART, SIZE
from hackmatrix.train_config import CENTRED, CONV, MLP, TURNED
from hackmatrix.turned import NEAR, SYMMETRY
from rlworldkit.agents.numpy_network import Floats, NumpyEncoder, dense

_SIGHT = 2 * SIZE - 1
_SHIFTS = np.stack([np.eye(_SIGHT, SIZE, place - SIZE + 1, np.float32).ravel() for place in range(SIZE)])
"""For each row (or column) of the player, a 0/1 matrix from rows (columns) of the board to those of the view."""
_PLACES = np.stack(np.divmod(np.arange(NUM_CELLS), SIZE), axis=1)
_SEEN = _PLACES[:, None] + np.array(NEAR)
_NEAR_CELLS = (_SEEN[:, :, None] == _PLACES).all(axis=-1).astype(np.float32)
"""1 where a cell lies at a `NEAR` offset from the player, else 0: (player's cell, offset, cell), (36, 37, 36)."""
_ON_BOARD = _NEAR_CELLS.sum(axis=2)


def centred(params: Mapping[str, Any], observations: Floats, rounds: int = 0) -> Floats:
    """The board as seen from the player's cell, as `networks.PlayerCentred` lays it out: (n, 1545) to (n, features)."""
    if "cell" not in params:
        raise ValueError("there is no embedding of cells")
    cells = observations[:, GRID_PART].reshape(len(observations), SIZE, SIZE, len(CELL_FEATURES))
    boards: Floats = np.tanh(dense(params["cell"], cells))
    for number in range(rounds):
        added = np.tanh(dense(params.get(f"round_{number}"), _crosses(boards)))
        if added.shape != boards.shape:
            raise ValueError("a round does not add to the embedding of cells")
        boards = boards + added
    return _seen_by_player(boards, observations)


def _crosses(boards: Floats) -> Floats:
    """Each cell of boards (n, 6, 6, features) with its neighbours, (n, 6, 6, 5 * features)."""
    edged = np.pad(boards, ((0, 0), (1, 1), (1, 1), (0, 0)))
    parts = [edged[:, 1 + row :, 1 + column :][:, :SIZE, :SIZE] for row, column in ((0, 0), *DIRECTIONS)]
    return np.concatenate(parts, axis=-1)


def _seen_by_player(boards: Floats, observations: Floats) -> Floats:
    """Boards (n, 6, 6, features) laid out around the player, then the rest of the observations: (n, features)."""
    count, features = len(observations), boards.shape[-1]
    here = _here(observations)
    shifts = (here @ _SHIFTS).reshape(count, 2, _SIGHT, SIZE)
    down = (shifts[:, 0] @ boards.reshape(count, SIZE, SIZE * features)).reshape(count, _SIGHT, SIZE, features)
    seen = shifts[:, 1].reshape(count, 1, _SIGHT, SIZE) @ down
    parts = (seen, observations[:, : GRID_PART.start], here)
    return np.concatenate([part.reshape(count, -1) for part in parts], axis=1)


def _here(observations: Floats) -> Floats:
    """The player's row and column, each one-hot: (n, 2, 6)."""
    place = np.rint(observations[:, PLAYER_PART][:, :2] * np.float32(SIZE - 1))  # O1: row/5, column/5
    return (place.reshape(len(observations), 2, 1) == np.arange(SIZE)).astype(np.float32)


class Turned:
    """Turned boards, cell by cell and around the player, as `networks.Turned` lays them out: (n, 1545) to (n, 789)."""

    symmetry = SYMMETRY

    def __call__(self, params: Mapping[str, Any], observations: Floats) -> Floats:
        """Encode ``observations`` that are already turned."""
        if not {"cell", "near"} <= set(params):
            raise ValueError("there is no embedding of cells")
        count = len(observations)
        cells = observations[:, GRID_PART].reshape(count, NUM_CELLS, len(CELL_FEATURES))
        here = _here(observations)
        player = (here[:, 0].reshape(count, SIZE, 1) * here[:, 1].reshape(count, 1, SIZE)).reshape(count, NUM_CELLS)
        seen = (player @ _NEAR_CELLS.reshape(NUM_CELLS, -1)).reshape(count, len(NEAR), NUM_CELLS) @ cells
        near: Floats = np.concatenate([seen, (player @ _ON_BOARD).reshape(count, len(NEAR), 1)], axis=2)
        board, around = np.tanh(dense(params["cell"], cells)), np.tanh(dense(params["near"], near))
        parts = board, around, observations[:, : GRID_PART.start], here
        return np.concatenate([part.reshape(count, -1) for part in parts], axis=1)


NUMPY_NETWORKS: Mapping[str, NumpyEncoder | None] = {
    CENTRED: centred,
    CONV: partial(centred, rounds=2),
    TURNED: Turned(),
    MLP: None,
}
"""Encoders of the networks of ``--network``, by name."""

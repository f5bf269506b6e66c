"""The input of the networks' trunks, in plain NumPy, written from the networks' description."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hackmatrix import rules
from tests.rlworldkit.ppo.reference import Floats, dense


def centred(layers: Mapping[str, Any], obs: Floats) -> Floats:
    """The features of one observation (1545,) for the player-centred network's trunk."""
    return _around_player(_embedded(layers, obs), obs)


def conv(layers: Mapping[str, Any], obs: Floats) -> Floats:
    """The features of one observation (1545,) for the trunk of the network whose cells read their neighbours."""
    cells = _embedded(layers, obs)
    for number in range(2):
        before = {divmod(cell, 6): cells[divmod(cell, 6)].copy() for cell in range(36)}
        off_board = np.zeros(cells.shape[-1])
        for (row, column), own in before.items():
            places = [(row, column), (row + 1, column), (row - 1, column), (row, column - 1), (row, column + 1)]
            cross = np.concatenate([before.get(place, off_board) for place in places])
            cells[row, column] = own + np.tanh(dense(layers[f"round_{number}"], cross))
    return _around_player(cells, obs)


def turned(layers: Mapping[str, Any], obs: Floats) -> Floats:
    """The features of one observation (1545,), turned already, for the trunk of the network that turns boards."""
    row, column = round(5 * obs[0]), round(5 * obs[1])
    grid = obs[rules.GRID_PART].reshape(rules.GRID_SHAPE)
    square = [(down, right) for down in range(-2, 3) for right in range(-2, 3)]
    lines = [(sign * far * a, sign * far * b) for a, b in ((1, 0), (0, 1)) for sign in (1, -1) for far in (3, 4, 5)]
    up, down, right, left = (lines[first : first + 3] for first in (0, 3, 6, 9))
    near = []
    for more_rows, more_columns in (*square, *up, *down, *left, *right):
        place = row + more_rows, column + more_columns
        on_board = all(0 <= index < 6 for index in place)
        near.append([*(grid[place] if on_board else np.zeros(len(rules.CELL_FEATURES))), float(on_board)])
    around = np.tanh(dense(layers["near"], np.array(near)))
    return np.concatenate([_embedded(layers, obs).ravel(), around.ravel(), _others(obs)])


ENCODERS = {"centred": centred, "conv": conv}


def _embedded(layers: Mapping[str, Any], obs: Floats) -> Floats:
    cells: Floats = np.tanh(dense(layers["cell"], obs[rules.GRID_PART].reshape(rules.GRID_SHAPE)))
    return cells


def _around_player(cells: Floats, obs: Floats) -> Floats:
    player_row, player_column = round(5 * obs[0]), round(5 * obs[1])
    seen = np.zeros((11, 11, cells.shape[-1]))
    for row in range(6):
        for column in range(6):
            seen[5 + row - player_row, 5 + column - player_column] = cells[row, column]
    return np.concatenate([seen.ravel(), _others(obs)])


def _others(obs: Floats) -> Floats:
    place = (np.eye(6)[round(5 * index)] for index in obs[:2])
    return np.concatenate([obs[: rules.GRID_PART.start], *place])

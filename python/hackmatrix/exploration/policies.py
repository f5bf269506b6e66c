"""Policies that steer towards seldom reached rules: weights of the actions from the player's observations."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hackmatrix.rules import BLOCKS, CELL_FEATURES, DIRECTIONS, ENEMIES, GRID_PART, NUM_ACTIONS, NUM_CELLS, SIPHON, SIZE
from rlparity import Policy, View

Weights = NDArray[np.float64]

_ENEMIES = slice(CELL_FEATURES.index(ENEMIES[0]), CELL_FEATURES.index(ENEMIES[-1]) + 1)
_BLOCKS = slice(CELL_FEATURES.index(BLOCKS[0]), CELL_FEATURES.index(BLOCKS[-1]) + 1)
_TURNS, _EXIT = CELL_FEATURES.index("transmissionTurns"), CELL_FEATURES.index("exit")
_FAR = 99


def programmer(view: View) -> Weights:
    """Runs programs whenever it can."""
    return _by_kind(view, moves=1.0, siphon=1.0, programs=10.0)


def siphoner(view: View) -> Weights:
    """Siphons whenever it can, and otherwise mostly moves, which collects data siphons."""
    return _by_kind(view, moves=3.0, siphon=20.0, programs=1.0)


def walker(view: View) -> Weights:
    """Takes the shortest path to the exit, so that whole games reach late stages."""
    return _by_kind(view, moves=0.05, siphon=0.1, programs=0.1) + _on_moves(5.0, ways_to_exit(view.observation))


def ways_to_exit(observation: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Flag the moves, (k, 4), that begin a shortest path to the exit around blocks, for observations (k, 1545)."""
    distances = _distances_to_exit(_grid(observation))
    here = np.take_along_axis(distances, _player(observation)[:, None], axis=1)
    return _beside_player(observation, distances) < here


def walk(observations: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Logits that take a step of a shortest path to the exit, the first in A2's order; else the first valid action."""
    preferred = masks.astype(np.int32)
    preferred[:, :SIPHON] += masks[:, :SIPHON] & ways_to_exit(observations)
    is_taken = np.arange(NUM_ACTIONS) == preferred.argmax(axis=1)[:, None]
    return np.where(is_taken, 0, -np.inf).astype(np.float32)


def fighter(view: View) -> Weights:
    """Attacks enemies and transmissions next to the player, and runs programs now and then."""
    grid = _grid(view.observation)
    beings = grid[:, :, _ENEMIES].any(axis=2) | (grid[:, :, _TURNS] > 0)
    attacked = _beside_player(view.observation, np.where(beings, 0, _FAR)) == 0
    return _by_kind(view, moves=0.5, siphon=0.5, programs=1.0) + _on_moves(10.0, attacked)


POLICIES: Mapping[str, Policy] = {"programmer": programmer, "siphoner": siphoner, "walker": walker, "fighter": fighter}


def _by_kind(view: View, *, moves: float, siphon: float, programs: float) -> Weights:
    row = np.full(view.mask.shape[1], programs)
    row[:SIPHON], row[SIPHON] = moves, siphon
    return np.tile(row, (len(view.mask), 1))


def _on_moves(weight: float, moves: NDArray[np.bool_]) -> Weights:
    """Weights of all actions: ``weight`` for the flagged moves (k, 4), and 0 for the rest."""
    return np.pad(weight * moves, ((0, 0), (0, NUM_ACTIONS - moves.shape[1])))


def _grid(observation: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cells' features, (k, 36, 42)."""
    return observation[:, GRID_PART].reshape(-1, NUM_CELLS, len(CELL_FEATURES))


def _player(observation: NDArray[np.float32]) -> NDArray[np.intp]:
    """The player's cell, (k,)."""
    row, column = np.rint((SIZE - 1) * observation[:, :2]).astype(np.intp).T
    return SIZE * row + column


def _beside_player(observation: NDArray[np.float32], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The values of the four cells next to the player, (k, 4) in the order of the moves, of all values (k, 36)."""
    beside = np.stack([_moved(values, step) for step in DIRECTIONS], axis=2)
    return np.take_along_axis(beside, _player(observation)[:, None, None], axis=1)[:, 0]


def _moved(values: NDArray[np.int64], step: tuple[int, int]) -> NDArray[np.int64]:
    """The value of the cell one step further, for every cell: (k, 36), ``_FAR`` beyond the edge."""
    board = np.pad(values.reshape(-1, SIZE, SIZE), ((0, 0), (1, 1), (1, 1)), constant_values=_FAR)
    rows, columns = step
    return board[:, 1 + rows :, 1 + columns :][:, :SIZE, :SIZE].reshape(-1, NUM_CELLS)


def _distances_to_exit(grid: NDArray[np.float32]) -> NDArray[np.int64]:
    """Steps from every cell to the exit around blocks, (k, 36), ``_FAR`` where there is no path."""
    blocked = grid[:, :, _BLOCKS].any(axis=2)
    distances = np.where(grid[:, :, _EXIT] > 0, 0, _FAR)
    while True:
        around = np.min([_moved(distances, step) for step in DIRECTIONS], axis=0)
        shorter = np.where(blocked, _FAR, np.minimum(distances, np.minimum(around + 1, _FAR)))
        if np.array_equal(shorter, distances):
            return distances
        distances = shorter

"""The programs that somebody wants, and those that a siphon would give."""

import argparse
from collections.abc import Collection

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike
from numpy.typing import NDArray

from hackmatrix.rules import ACTIONS, CELL_FEATURES, DIRECTIONS, GRID_PART, GRID_SHAPE, PROGRAM_PART, SIPHON, SIZE

PROGRAMS = ACTIONS[SIPHON + 1 :]
_SIPHONED = CELL_FEATURES.index("siphoned")
_HELD = slice(_SIPHONED + 1, _SIPHONED + 1 + len(PROGRAMS))
_CROSS = ((0, 0), *DIRECTIONS)  # S1


def programs_of(text: str) -> list[str]:
    """The type of a flag: names of programs with commas between them."""
    names = text.split(",")
    if unknown := set(names) - set(PROGRAMS):
        raise argparse.ArgumentTypeError(f"there is no program {min(unknown)!r}; name some of {', '.join(PROGRAMS)}")
    return names


def wanted_of(names: Collection[str]) -> NDArray[np.bool_]:
    """One-hot mask of these programs, bool (23,)."""
    return np.array([name in names for name in PROGRAMS])


def new_within_reach(observations: ArrayLike) -> Array:
    """Programs that a siphon would add, bool (n, 23), in observations (n, 1545)."""
    seen = jnp.asarray(observations)
    board = seen[:, GRID_PART].reshape(-1, *GRID_SHAPE)
    held = jnp.pad(board[..., _HELD] * (board[..., _SIPHONED, None] == 0), ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, columns = jnp.rint((SIZE - 1) * seen[:, :2]).astype(int).T + 1
    games = jnp.arange(len(seen))
    cross = jnp.stack([held[games, rows + up, columns + right] for up, right in _CROSS])
    return (cross > 0).any(axis=0) & (seen[:, PROGRAM_PART] == 0)

"""Observations of the environments: the parts of O, and their Gymnasium spaces."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hackmatrix import rules

if TYPE_CHECKING:
    from gymnasium import spaces

Observation = dict[str, NDArray[Any]]
"""The parts of O1-O3, with any leading axes: player float32 (10,), programs int8 (23,), grid float32 (6, 6, 42)."""


def dict_space() -> Any:  # noqa: ANN401 - Gymnasium's Dict is no space of dicts to the type checker
    """The Dict space of O1-O3."""
    from gymnasium import spaces

    return spaces.Dict(
        {
            "player": spaces.Box(0.0, 1.0, (len(rules.PLAYER_FEATURES),), np.float32),
            "programs": spaces.MultiBinary(rules.NUM_PROGRAMS),
            "grid": spaces.Box(0.0, 1.0, rules.GRID_SHAPE, np.float32),
        }
    )


def flat_space() -> "spaces.Box":
    """The Box space of the observation as one vector in the order O, (1545,)."""
    from gymnasium import spaces

    return spaces.Box(0.0, 1.0, (rules.OBSERVATION_SIZE,), np.float32)


def split(flat: NDArray[np.float32]) -> Observation:
    """Split flat observations in the order O, float32 (..., 1545), into their parts; the float parts are views."""
    return {
        "player": flat[..., rules.PLAYER_PART],
        "programs": flat[..., rules.PROGRAM_PART].astype(np.int8),
        "grid": flat[..., rules.GRID_PART].reshape(*flat.shape[:-1], *rules.GRID_SHAPE),
    }


def join(observation: Observation) -> NDArray[np.float32]:
    """Join the parts of observations in the order O: float32 (..., 1545)."""
    programs, grid = observation["programs"], observation["grid"]
    batch = programs.shape[:-1]
    parts = [observation["player"], programs.astype(np.float32), grid.reshape(*batch, -1)]
    return np.concatenate(parts, axis=-1)

"""What a Gymnasium environment of HackMatrix shows: the spaces and the observation (O)."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hackmatrix.rules import ACTIONS
from parity.errors import UsageError

PLAYER, PROGRAMS, GRID = 10, 23, (6, 6, 42)
NUM_ACTIONS = len(ACTIONS)


Observation = dict[str, NDArray[Any]]
"""The parts of O1-O3, with any leading axes: player float32 (10,), programs int8 (23,), grid float32 (6, 6, 42)."""


# A space draws from a generator of its own, so every environment has its own spaces.


def observation_space() -> Any:  # noqa: ANN401 - Gymnasium's Dict is no space of dicts to the type checker
    """The Dict of O1-O3."""
    return spaces.Dict(
        {
            "player": spaces.Box(0.0, 1.0, (PLAYER,), np.float32),
            "programs": spaces.MultiBinary(PROGRAMS),
            "grid": spaces.Box(0.0, 1.0, GRID, np.float32),
        }
    )


def flat_space() -> spaces.Box:
    """The same as one vector in the order O, (1545,)."""
    return spaces.Box(0.0, 1.0, (PLAYER + PROGRAMS + int(np.prod(GRID)),), np.float32)


def action_space() -> "spaces.Discrete[np.int64]":
    """The 28 actions."""
    return spaces.Discrete(NUM_ACTIONS)


def split(flat: NDArray[np.float32]) -> Observation:
    """The parts of observations in the order O, float32 (..., 1545); the floats are views of them."""
    programs = PLAYER + PROGRAMS
    return {
        "player": flat[..., :PLAYER],
        "programs": flat[..., PLAYER:programs].astype(np.int8),
        "grid": flat[..., programs:].reshape(*flat.shape[:-1], *GRID),
    }


def join(observation: Observation) -> NDArray[np.float32]:
    """The parts in the order O: float32 (..., 1545)."""
    programs, grid = observation["programs"], observation["grid"]
    batch = programs.shape[:-1]
    parts = [observation["player"], programs.astype(np.float32), grid.reshape(*batch, -1)]
    return np.concatenate(parts, axis=-1)


def check_seed(seed: int) -> int:
    """The seed; raises UsageError outside 0 … 2**64 − 1 (R6)."""
    if not 0 <= seed < 1 << 64:
        raise UsageError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed}.")
    return seed


def check_action(action: Any) -> int:  # noqa: ANN401 - whatever a policy returns
    """The action; raises UsageError where it is none of 0 … 27 (C1)."""
    number = int(action)
    if number != action or not 0 <= number < NUM_ACTIONS:
        raise UsageError(f"an action is a whole number from 0 to {NUM_ACTIONS - 1}, not {action}.")
    return number


def check_actions(actions: Any, num_games: int) -> NDArray[np.int32]:  # noqa: ANN401 - whatever a policy returns
    """One action for each game, int32 (n,); raises UsageError where one is none of 0 … 27 (C1)."""
    given = np.asarray(actions)
    if given.shape != (num_games,):
        raise UsageError(
            f"there must be one action for each of {num_games} games, not an array of shape {given.shape}."
        )
    wrong = (given < 0) | (given >= NUM_ACTIONS) | (given != np.floor(given))
    if wrong.any():
        check_action(given[wrong][0])
    return given.astype(np.int32)

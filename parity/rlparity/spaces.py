"""Action spaces of worlds whose actions are arrays without names, and validation of numbers and actions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def is_number(value: object) -> bool:
    """Tell whether a value is a finite float or a 64-bit int, signed or unsigned, and no bool."""
    return -(2**63) <= value < 2**64 if type(value) is int else type(value) is float and math.isfinite(value)


def is_count(value: object, below: int = 2**63) -> bool:
    """Tell whether a value is an int in 0 … ``below`` − 1."""
    return type(value) is int and 0 <= value < below


@dataclass(frozen=True)
class Box:
    """Space of arrays of ``shape`` with numbers from ``low`` to ``high``, both included, like Gymnasium's Box.

    low, high: one number for all elements, or one for each, in C order; ``sample`` takes an infinite bound to be -1 or
    1, or one away from the other bound where that lies beyond. dtype: of a float, an integer or bool.
    """

    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    shape: tuple[int, ...]
    dtype: str = "float32"

    @property
    def size(self) -> int:
        """Number of elements of an action."""
        return int(np.prod(self.shape))

    def sample(self, rng: np.random.Generator, games: int) -> NDArray[Any]:
        """Draw actions (games, *shape) uniformly within the bounds."""
        kind: Any = {"b": np.int64, "i": np.int64, "u": np.uint64}.get(np.dtype(self.dtype).kind, np.float64)
        bounds: list[NDArray[Any]] = [
            np.broadcast_to(np.array(side, kind), self.size) for side in (self.low, self.high)
        ]
        low, high = bounds
        drawn: NDArray[Any]
        if kind is not np.float64:
            drawn = rng.integers(low, high, (games, self.size), kind, endpoint=True)
        else:
            least, most = np.minimum(-1.0, high - 1), np.maximum(1.0, low + 1)
            low, high = np.where(np.isfinite(low), low, least), np.where(np.isfinite(high), high, most)
            drawn = 2 * rng.uniform(low / 2, high / 2, (games, self.size))  # high - low may be more than a float holds
            drawn = np.clip(drawn.astype(self.dtype), low, high)  # rounding to the type may not step over a bound
        return drawn.astype(self.dtype).reshape(games, *self.shape)

    def array(self, actions: Sequence[Any]) -> NDArray[Any]:
        """Build actions (n, *shape) from the numbers of each, which are in C order."""
        return np.array(actions, self.dtype).reshape(len(actions), *self.shape)

    def contains(self, action: object) -> bool:
        """Tell whether these are the numbers of an action, in C order; the environment itself enforces the bounds."""
        numbers = action if isinstance(action, tuple) else (action,)
        return len(numbers) == self.size and all(map(is_number, numbers))


def box_of(value: Mapping[str, Any] | None) -> Box | None:
    """Rebuild the space in a description by ``rlparity.engines.remote.describe_world``; None where it has none."""
    if value is None:
        return None
    low, high = (tuple(side) if isinstance(side, list) else side for side in (value["low"], value["high"]))
    return Box(low, high, tuple(value["shape"]), value["dtype"])


def MultiDiscrete(sizes: Sequence[int]) -> Box:
    """Space with one choice of 0 … size - 1 for each of ``sizes``, such as for each player."""
    return Box((0,) * len(sizes), tuple(size - 1 for size in sizes), (len(sizes),), "int32")


def action_numbers(action: NDArray[Any]) -> int | tuple[int | float, ...]:
    """Convert an action of a batch for JSON: to a number, or to the numbers of an array in C order."""
    numbers = action.astype(np.uint8) if action.dtype == np.bool_ else action
    is_whole = numbers.ndim == 0 and np.issubdtype(numbers.dtype, np.integer)
    return int(numbers) if is_whole else tuple(numbers.ravel().tolist())


def checked_actions(actions: ArrayLike, games: int, count: int) -> NDArray[np.int32]:
    """Validate actions; returns (games,) int32, raises ValueError for another shape or type or one out of range."""
    given = np.asarray(actions)
    if given.shape != (games,) or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"actions are {given.dtype} of shape {given.shape}: give {games} integers.")
    outside = given[(given < 0) | (given >= count)]
    if outside.size:
        raise ValueError(f"action {int(outside[0])} is outside 0 … {count - 1}: choose one inside.")
    return given.astype(np.int32)

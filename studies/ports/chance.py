"""Draws that are the same in an original and its ports, whatever library they draw with.

Step ``taken`` of the game of a seed has 8 numbers below 65536. Every draw of a step is read off one of them: the
original's by the order in which it draws, a JAX port's by the place of its key among the splits of the step's key.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

RANGE, STRIDE = 65536, 40503


def numbers_of(seed: int, taken: int) -> NDArray[np.int32]:
    """The numbers of a step, (8,) int32."""
    return np.random.default_rng([seed, taken]).integers(0, RANGE, 8, np.int32)


class NumpyDraws:
    """Stands in for ``numpy.random.RandomState``; ``next`` is the number that is read next, ``row`` what it is."""

    def __init__(self) -> None:
        self.row, self.next = numbers_of(0, 0), 0

    def begin(self, row: NDArray[np.int32]) -> None:
        """Draw from these numbers, from the first on."""
        self.row, self.next = row, 0

    def take(self) -> int:
        """The next number."""
        self.next += 1
        return int(self.row[self.next - 1])

    def rand(self, size: int | None = None) -> Any:
        """Numbers in [0, 1)."""
        number = self.take()
        return number / RANGE if size is None else _vector(number, size) / RANGE

    def randint(self, low: int, high: int | None = None, size: int | None = None) -> Any:
        """Integers from low, included, to high, excluded."""
        low, high = (0, low) if high is None else (low, high)
        number = self.take()
        return low + (number if size is None else _vector(number, size)) * (high - low) // RANGE


@dataclass(frozen=True)
class Key:
    """Stands in for a JAX key: ``path`` is the places of the splits that it came from."""

    row: Any
    path: tuple[int, ...] = ()


class JaxDraws:
    """Stands in for the module ``jax`` of a port, with other draws. places: path of a key -> its number in the row."""

    def __init__(self, places: Mapping[tuple[int, ...], int]) -> None:
        import jax

        self._jax, self._places, self.random = jax, places, self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jax, name)

    def split(self, key: Any, num: int = 2) -> Sequence[Key]:
        """Keys below a key."""
        key = key if isinstance(key, Key) else Key(key)
        return [Key(key.row, (*key.path, place)) for place in range(num)]

    def uniform(self, key: Any, shape: tuple[int, ...] = ()) -> Any:
        """Numbers in [0, 1); several are the numbers from the key's place on."""
        import jax.numpy as jnp

        place = self._place(key)
        row = key.row if isinstance(key, Key) else key
        return (jnp.stack([row[place + i] for i in range(shape[0])]) if shape else row[place]) / RANGE

    def bernoulli(self, key: Any) -> Any:
        """True for the lower half of the numbers."""
        return self._number(key) < RANGE // 2

    def randint(self, key: Any, shape: Any = (), minval: int = 0, maxval: int = 1, dtype: Any = None) -> Any:
        """Integers from minval, included, to maxval, excluded."""
        return minval + self._shaped(key, shape) * (maxval - minval) // RANGE

    def choice(self, key: Any, a: Any, shape: Any = (), p: Any = None) -> Any:
        """Elements of ``a``; with ``p`` of more than two, the first possible one after the number's."""
        import jax.numpy as jnp

        values = jnp.arange(a) if isinstance(a, int) else a
        if p is None:
            return values[self._shaped(key, shape) * len(values) // RANGE]
        if len(values) == 2:
            return values[jnp.where(self._number(key) / RANGE < p[0], 0, 1)]
        order = self._rotation(key, len(values), 1)
        return values[order[jnp.argmax(p[order] > 0)]]

    def permutation(self, key: Any, a: Any) -> Any:
        """``a`` from the number's element on."""
        return a[self._rotation(key, len(a), 0)]

    def _rotation(self, key: Any, length: int, first: int) -> Any:
        import jax.numpy as jnp

        return (self._number(key) * length // RANGE + first + jnp.arange(length)) % length

    def _place(self, key: Any) -> int:
        return self._places.get(key.path if isinstance(key, Key) else (), 0)

    def _number(self, key: Any) -> Any:
        return (key.row if isinstance(key, Key) else key)[self._place(key)]

    def _shaped(self, key: Any, shape: Any) -> Any:
        number = self._number(key)
        return _vector(number, shape[0]) if tuple(shape) else number


def _vector(number: Any, size: int) -> Any:
    return (number + np.arange(size, dtype=np.int32) * STRIDE) % RANGE


def script(modules: Sequence[ModuleType], places: Mapping[tuple[int, ...], int]) -> None:
    """Let modules that say ``jax.random`` draw so."""
    for module in modules:
        vars(module)["jax"] = JaxDraws(places)


def rotated_choice(number: int, is_free: Callable[[int], bool], length: int) -> int | None:
    """The first free place after the number's, as ``JaxDraws.choice`` finds it."""
    first = number * length // RANGE
    return next((place for i in range(length) if is_free(place := (first + 1 + i) % length)), None)

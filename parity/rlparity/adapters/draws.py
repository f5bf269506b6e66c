"""Random numbers that an original and its port share, whatever generators they use themselves.

A random word has an address: the seed of the game, the turn (0: the start), a site and an index. The word is a function
of its address alone (`rlparity.threefry`: the key is the seed, the counter is the turn and site * 65536 + index // 2),
so it does not depend on the order of evaluation or on unused words. A Gymnasium original draws with
``SharedGenerator`` in place of ``np_random``; a port passes the same addresses to ``Draws``.
"""

import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rlparity.errors import EngineError
from rlparity.threefry import Words, seed_pair, threefry2x32

Numbers = Any
"""A number or an array, of numpy or of JAX."""
Size = int | Sequence[int] | None
_SITE_BITS = 16
NORMAL_WORDS = 12
"""Number of words that a normal number uses."""


class Draws(NamedTuple):
    """Random numbers of one turn of a game: a pytree of three uint32 words, of numpy or JAX.

    An index is a number, which may be traced, or an array of any shape; the draws have the same shape. Outside of a
    comparison, a port makes its draws from a key: ``Draws(*jax.random.key_data(key), 0)``.
    """

    low: Words
    high: Words
    turn: Words

    def words(self, index: Numbers, site: int = 0) -> Words:
        """Random words, uint32."""
        index = _uint32(index)
        counter = self.turn, _uint32(site << _SITE_BITS) + (index >> 1)
        even, odd = threefry2x32((self.low, self.high), counter)
        return even * (1 - (index & 1)) + odd * (index & 1)

    def random(self, index: Numbers, site: int = 0) -> Numbers:
        """Random numbers in (0, 1), float32: the midpoints of 65,536 equal intervals.

        They have 17 bits, so that arithmetic on them rounds little, and are never a short fraction such as 0.25:
        comparisons with a probability have the same result in float32 and float64.
        """
        return ((self.words(index, site) >> 16) * 2 + 1).astype(np.float32) * np.float32(2**-17)

    def integers(self, low: Numbers, high: Numbers, index: Numbers, site: int = 0) -> Numbers:
        """Random integers, int32, in [low, high): low + word % (high - low)."""
        return (self.words(index, site) % _uint32(high - low)).astype(np.int32) + low

    def normal(self, index: Numbers, site: int = 0) -> Numbers:
        """Approximately normal numbers, float32: the sum of twelve of ``random``, from the index on, minus 6."""
        return sum(self.random(_uint32(index) + i, site) for i in range(NORMAL_WORDS)) - np.float32(6)

    def permutation(self, length: int, index: int, site: int = 0) -> Numbers:
        """Random permutation of ``range(length)``: the argsort of the words from ``index`` on."""
        return self.words(np.arange(index, index + length, dtype=np.uint32), site).argsort(stable=True)


def draws_of(seed: int, turn: int) -> Draws:
    """Make the draws of one turn of the game with this seed, in numpy."""
    low, high = seed_pair(seed)
    return Draws(low, high, np.uint32(turn))


def key_of(seed: Numbers, turn: Numbers) -> Any:
    """Make the key that a ``PytreeGame`` gets in a turn: the seed's key, with the turn folded in after the reset."""
    import jax

    key = jax.random.key(seed)
    return jax.numpy.where(turn, jax.random.fold_in(key, turn), key)


class SharedGenerator:
    """Replacement of ``np_random`` in a Gymnasium environment that draws shared words; each game has its own.

    In each turn, the numbers that a site draws have the indices 0, 1, 2 …, in order. An array of n numbers takes n
    indices (12 n for ``normal``), a permutation and a choice without replacement one for each element.

    sites: name of a function or method that draws -> its site. Sites keep the draws of one rule apart from the number
    of draws that other rules made; all other functions have site 0.
    """

    def __init__(self, sites: Mapping[str, int] | None = None) -> None:
        self._sites = sites or {}
        self.begin(0, 0)

    def begin(self, seed: int, turn: int) -> None:
        """Start a turn: further draws are the words of this seed and turn."""
        self._draws = Draws(*(word[None] for word in draws_of(seed, turn)))  # numpy warns when scalars overflow
        self._next = dict.fromkeys((0, *self._sites.values()), 0)

    def _take(self, count: int) -> tuple[NDArray[np.uint32], int]:
        """Take the next indices, and return them with their site: that of the innermost calling function with one."""
        frame: FrameType | None = sys._getframe(2) if self._sites else None
        while frame is not None and frame.f_code.co_name not in self._sites:
            frame = frame.f_back
        site = 0 if frame is None else self._sites[frame.f_code.co_name]
        first = self._next[site]
        self._next[site] += count
        return np.arange(first, first + count, dtype=np.uint32), site

    def random(self, size: Size = None) -> Numbers:
        """Draw as ``Draws.random``, in float64."""
        return _shaped(self._draws.random(*self._take(_count(size))).astype(np.float64), size)

    def uniform(self, low: Numbers = 0.0, high: Numbers = 1.0, size: Size = None) -> Numbers:
        """Draw ``low + (high - low) * random``."""
        return low + np.subtract(high, low) * self.random(_size(size, low, high))

    def integers(
        self, low: Numbers, high: Numbers = None, size: Size = None, dtype: DTypeLike = np.int64, endpoint: bool = False
    ) -> Numbers:
        """Draw as ``Draws.integers``."""
        low, high = (0, low) if high is None else (low, high)
        size = _size(size, low, high)
        words = _shaped(self._draws.words(*self._take(_count(size))).astype(np.int64), size)
        return np.asarray(low + words % (np.subtract(high, low) + endpoint)).astype(dtype)[()]

    def normal(self, loc: Numbers = 0.0, scale: Numbers = 1.0, size: Size = None) -> Numbers:
        """Draw ``loc + scale * Draws.normal``."""
        size = _size(size, loc, scale)
        index, site = self._take(NORMAL_WORDS * _count(size))
        numbers = self._draws.normal(index[::NORMAL_WORDS], site).astype(np.float64)
        return loc + np.multiply(scale, _shaped(numbers, size))

    def standard_normal(self, size: Size = None) -> Numbers:
        """Draw as ``Draws.normal``."""
        return self.normal(size=size)

    def choice(self, a: Numbers, size: Size = None, replace: bool = True, p: ArrayLike | None = None) -> Numbers:
        """Choose element ``integers(0, n)``; with ``p``, the first whose cumulative probability exceeds ``random``."""
        values = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        if not replace:
            if p is not None:
                raise EngineError("SharedGenerator has no probabilities without replacement: wrap the original")
            return _shaped(self.permutation(values)[: _count(size)], size)
        if p is not None:
            drawn = np.searchsorted(np.cumsum(p), self.random(_count(size)), side="right").clip(max=len(values) - 1)
        else:
            drawn = self.integers(0, len(values), _count(size))
        return _shaped(values[drawn], size)

    def permutation(self, x: Numbers) -> Numbers:
        """Permute ``x``, or ``range(x)``, as ``Draws.permutation``."""
        values = np.arange(x) if np.ndim(x) == 0 else np.asarray(x)
        return values[self._draws.words(*self._take(len(values))).argsort(stable=True)]

    def shuffle(self, x: Numbers) -> None:
        """Permute a list or an array in place."""
        x[:] = [x[place] for place in self.permutation(len(x))]


def _uint32(value: Numbers) -> Numbers:
    return value.astype(np.uint32) if hasattr(value, "astype") else np.uint32(value)


def _size(size: Size, *bounds: Numbers) -> Size:
    """Size of a draw: the given one, else the broadcast shape of array bounds."""
    return (np.broadcast_shapes(*map(np.shape, bounds)) or None) if size is None else size


def _count(size: Size) -> int:
    return 1 if size is None else int(np.prod(size))


def _shaped(values: NDArray[Any], size: Size) -> Numbers:
    return values.reshape(-1)[0] if size is None else values.reshape(size)

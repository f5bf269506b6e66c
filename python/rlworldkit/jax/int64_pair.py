"""64-bit integers in two 32-bit words: JAX has no wider ones by default."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray


class Int64Pair(NamedTuple):
    """``high · 2³² + low``: a signed number, its two's complement in two uint32."""

    low: Array
    high: Array

    def plus(self, number: Array) -> Int64Pair:
        """The sum with an int32."""
        low = self.low + number.astype(jnp.uint32)
        carry = (low < self.low).astype(jnp.uint32)
        return Int64Pair(low, self.high + (number >> 31).astype(jnp.uint32) + carry)

    def is_positive(self) -> Array:
        """True above 0."""
        return ~self._is_negative() & (self.low | self.high != 0)

    def is_at_least(self, number: int) -> Array:
        """True for ``number``, which is at least 0 and below 2³², and for more."""
        return ~self._is_negative() & ((self.high != 0) | (self.low >= np.uint32(number)))

    def _is_negative(self) -> Array:
        return self.high >> 31 != 0


def wide(number: int, like: Array) -> Int64Pair:
    """A number below 2³¹ in the shape of ``like``."""
    return Int64Pair(jnp.full(like.shape, number, jnp.uint32), jnp.zeros(like.shape, jnp.uint32))


def to_int64(words: Any) -> NDArray[np.int64]:
    """int64 (…) from words uint32 (…, 2), the low one first."""
    return np.ascontiguousarray(words, "<u4").view("<i8")[..., 0]

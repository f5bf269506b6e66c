"""64-bit integers as two 32-bit words, because JAX's integers have 32 bits by default."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray


class Int64Pair(NamedTuple):
    """Signed 64-bit number ``high · 2³² + low``, in two's complement as two uint32."""

    low: Array
    high: Array

    def plus(self, number: Array) -> Int64Pair:
        """The sum with an int32."""
        low = self.low + number.astype(jnp.uint32)
        carry = (low < self.low).astype(jnp.uint32)
        return Int64Pair(low, self.high + (number >> 31).astype(jnp.uint32) + carry)

    def is_positive(self) -> Array:
        """Whether the number is above 0."""
        return ~self._is_negative() & (self.low | self.high != 0)

    def is_at_least(self, number: int) -> Array:
        """Whether the pair is at least ``number``, which must be in 0..2³²-1."""
        return ~self._is_negative() & ((self.high != 0) | (self.low >= np.uint32(number)))

    def _is_negative(self) -> Array:
        return self.high >> 31 != 0


def wide(number: int, like: Array) -> Int64Pair:
    """Make pairs of a number in 0..2³¹-1, in the shape of ``like``."""
    return Int64Pair(jnp.full(like.shape, number, jnp.uint32), jnp.zeros(like.shape, jnp.uint32))


def to_int64(words: Any) -> NDArray[np.int64]:
    """Join words, uint32 (…, 2) with the low one first, to int64 (…)."""
    return np.ascontiguousarray(words, "<u4").view("<i8")[..., 0]

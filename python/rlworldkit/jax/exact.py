"""Arithmetic that rounds as it should whatever the compiler makes of it."""

import jax.numpy as jnp
import numpy as np
from jax import Array


def rounded(amount: Array) -> Array:
    """The same float32 numbers, which no compiler fuses with an addition that follows: that would not round them."""
    return jnp.where(amount == 0, 0.0, amount)


def total(values: Array) -> Array:
    """The sum of float32 (m, n), in an order that no compiler changes.

    Half of the rows, and then of the columns, is added to the other half until one is left.
    """
    for axis in (0, 1):
        while (size := values.shape[axis]) > 1:
            first, second, odd = jnp.split(values, (size // 2, size - size % 2), axis=axis)
            values = jnp.concatenate([first + second, odd], axis=axis)
    return values[0, 0]


def divided(amount: Array, by: int) -> Array:
    """``float32(amount) / float32(by)``, correctly rounded on every backend.

    Compilers may replace a division by a constant with a multiplication, which rounds differently. So it is multiplied
    here, and corrected by what is left over (Dekker's product; no step depends on fused multiply-add). amount: int32,
    of any shape, below 2^24 in size. by: above 0, with at most 12 bits before its trailing zeros, so that its products
    below are exact.
    """
    amount, divisor, inverse = amount.astype(jnp.float32), np.float32(by), np.float32(1 / by)
    quotient = amount * inverse
    # high and the rest have 12 bits each
    high = quotient * np.float32(4097)
    high = high - (high - quotient)
    left = (amount - high * divisor) - (quotient - high) * divisor
    return quotient + left * inverse

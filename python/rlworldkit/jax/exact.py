"""Float32 arithmetic that rounds the same way under every compiler."""

import jax.numpy as jnp
import numpy as np
from jax import Array


def rounded(amount: Array) -> Array:
    """Return ``amount`` (float32) so that no compiler fuses it with a following addition and skips its rounding."""
    return jnp.where(amount == 0, 0.0, amount)


def total(values: Array) -> Array:
    """Return the sum of float32 (m, n), in an order that no compiler changes.

    One half of the rows is added to the other until one row is left, then the same with its columns.
    """
    for axis in (0, 1):
        while (size := values.shape[axis]) > 1:
            first, second, odd = jnp.split(values, (size // 2, size - size % 2), axis=axis)
            values = jnp.concatenate([first + second, odd], axis=axis)
    return values[0, 0]


def divided(amount: Array, by: int) -> Array:
    """Return ``float32(amount) / float32(by)``, correctly rounded on every backend.

    Compilers may replace a division by a constant with a multiplication, which rounds differently. So this multiplies
    by the inverse and corrects with the remainder (Dekker's product; no step depends on fused multiply-add). amount:
    int32, of any shape, below 2^24 in size. by: above 0, with at most 12 bits before its trailing zeros, so that its
    products below are exact.
    """
    amount, divisor, inverse = amount.astype(jnp.float32), np.float32(by), np.float32(1 / by)
    quotient = amount * inverse
    # high and quotient - high have 12 bits each
    high = quotient * np.float32(4097)
    high = high - (high - quotient)
    left = (amount - high * divisor) - (quotient - high) * divisor
    return quotient + left * inverse

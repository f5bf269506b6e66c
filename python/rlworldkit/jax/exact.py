"""Arithmetic that rounds as it should whatever the compiler makes of it."""

import jax.numpy as jnp
import numpy as np
from jax import Array


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

"""PopArt (van Hasselt et al. 2016): a value head learns scaled returns, and keeps its values when the scale moves."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

_LEAST_DEVIATION = 1e-4


class Scale(NamedTuple):
    """Mean and deviation of the returns so far, float32, and of how many batches, int32."""

    mean: Array
    deviation: Array
    batches: Array

    def values(self, scaled: Array) -> Array:
        """Values in units of reward, from those of the head."""
        return scaled * self.deviation + self.mean

    def scaled(self, returns: Array) -> Array:
        """What the head should say for these returns."""
        return (returns - self.mean) / self.deviation


class Head(NamedTuple):
    """The last layer of the values: float32 (1, hidden) and (1,)."""

    weight: Array
    bias: Array


def first_scale() -> Scale:
    """The scale of a head that has learned nothing."""
    return Scale(np.float32(0), np.float32(1), np.int32(0))  # type: ignore[arg-type]


def follow(scale: Scale, head: Head, mean: Array, variance: Array, beta: float) -> tuple[Scale, Head]:
    """Take in the mean and variance of a batch of returns; the head changes so that its values do not.

    The first batches count alike, until each counts for ``beta``.
    """
    batches = scale.batches + 1
    rate = jnp.maximum(beta, 1 / batches)
    off = mean - scale.mean
    spread = (1 - rate) * scale.deviation**2 + rate * variance + rate * (1 - rate) * off**2
    after = Scale(scale.mean + rate * off, jnp.maximum(jnp.sqrt(spread), _LEAST_DEVIATION), batches)
    return after, moved(head, scale, after)


def moved(head: Head, before: Scale, after: Scale) -> Head:
    """The head whose values on the scale ``after`` are those that it had on the scale ``before``."""
    return Head(head.weight * (before.deviation / after.deviation), after.scaled(before.values(head.bias)))

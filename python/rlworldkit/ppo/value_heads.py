"""Value heads, ``--value-head``: how the last layer represents the value.

Returns differ by orders of magnitude where a step brings a hundredth and a victory hundreds. ``plain`` predicts the
value itself. ``two-hot`` predicts a distribution over a row of values, whose mean is the value (Hafner et al. 2023,
arXiv:2301.04104). ``popart`` predicts it on a scale that follows the returns, and keeps its values when the scale moves
(van Hasselt et al. 2016, arXiv:1602.07714). Saved parameters have the scale folded in: their values are in units of
reward.

The name of its layer identifies a head, so parameters alone tell which one they need. This module does not import JAX:
its functions take the array module, ``numpy`` or ``jax.numpy``, as ``xp``.
"""

from collections.abc import Collection
from typing import Any, Final, Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

ValueHead = Literal["plain", "two-hot", "popart"]
PLAIN: Final = "plain"
TWO_HOT: Final = "two-hot"
POPART: Final = "popart"

NUM_BINS = 127
_MOST = 8.0
"""ln(1 + v) of the largest value v that ``two-hot`` can represent, about 2,980; values beyond are clipped to it."""


_EXPONENTS = np.linspace(-_MOST, _MOST, NUM_BINS)
BINS: NDArray[np.float32] = (np.sign(_EXPONENTS) * np.expm1(np.abs(_EXPONENTS))).astype(np.float32)
"""Values of the bins of ``two-hot``, ascending, 0 in the middle; bins near 0 are closer together."""


class Head(NamedTuple):
    """Last layer of a value head. layer: its name. outputs: its number of outputs."""

    layer: str
    outputs: int


HEADS: dict[ValueHead, Head] = {
    PLAIN: Head("value", 1),
    TWO_HOT: Head("value_two_hot", NUM_BINS),
    POPART: Head("value_popart", 1),
}


def head_of(layers: Collection[str]) -> ValueHead:
    """Find the head that one of these layers belongs to; ``plain`` if none does."""
    return next((name for name, head in HEADS.items() if head.layer in layers), PLAIN)


def values_of(head: ValueHead, outputs: Any, xp: Any = np) -> Any:  # noqa: ANN401 - arrays of either module
    """Decode the values, (...), from a head's outputs (..., outputs)."""
    match head:
        case "two-hot":
            weights = xp.exp(outputs - outputs.max(axis=-1, keepdims=True))
            return weights @ BINS / weights.sum(axis=-1)
        case "plain" | "popart":
            return outputs[..., 0]
        case unknown:
            assert_never(unknown)


class ValueScale(NamedTuple):
    """Mean and deviation of the returns so far, float32, and the number of their batches, int32."""

    mean: Any
    deviation: Any
    batches: Any

    def values(self, scaled: Any) -> Any:  # noqa: ANN401 - arrays of either module
        """Convert values of the head to units of reward."""
        return scaled * self.deviation + self.mean

    def scaled(self, returns: Any) -> Any:  # noqa: ANN401 - arrays of either module
        """Convert returns, in units of reward, to targets of the head."""
        return (returns - self.mean) / self.deviation

    def following(self, mean: Any, variance: Any, beta: float, xp: Any = np) -> "ValueScale":  # noqa: ANN401 - the same
        """Scale after returns of this mean and variance. Batches have equal weights until a new one's is ``beta``."""
        batches = self.batches + 1
        rate = xp.maximum(beta, 1 / batches)
        off = mean - self.mean
        spread = (1 - rate) * self.deviation**2 + rate * variance + rate * (1 - rate) * off**2
        return ValueScale(self.mean + rate * off, xp.maximum(xp.sqrt(spread), _LEAST_DEVIATION), batches)


FIRST_SCALE = ValueScale(np.float32(0), np.float32(1), np.int32(0))
"""Scale of an untrained head: units of reward."""
_LEAST_DEVIATION = 1e-4


def moved(kernel: Any, bias: Any, before: ValueScale, after: ValueScale) -> tuple[Any, Any]:  # noqa: ANN401 - arrays
    """Rescale a layer so that its values on the scale ``after`` equal those on the scale ``before``."""
    return kernel * (before.deviation / after.deviation), after.scaled(before.values(bias))


def rescaled(params: Any, before: ValueScale, after: ValueScale) -> Any:  # noqa: ANN401 - parameters
    """Copy an ``ActorCritic``'s parameters with its ``popart`` layer rescaled by ``moved``."""
    layers, name = params["params"], HEADS[POPART].layer
    kernel, bias = moved(layers[name]["kernel"], layers[name]["bias"], before, after)
    return {**params, "params": {**layers, name: {"kernel": kernel, "bias": bias}}}


def two_hot(values: Any, xp: Any = np) -> Any:  # noqa: ANN401 - arrays of either module
    """Encode values (...) as probabilities (..., bins) of their two neighbouring bins, whose mean is the value."""
    values = xp.clip(values, BINS[0], BINS[-1])[..., None]
    width = BINS[1:] - BINS[:-1]
    share = xp.clip((values - BINS[:-1]) / width, 0, 1)  # the share of each gap between bins that lies below the value
    whole = xp.ones_like(values)
    above = xp.concatenate([whole, share], axis=-1)
    return above - xp.concatenate([share, 0 * whole], axis=-1)

"""Measure a machine's ceilings: operations per second of matrix products, and memory bandwidth."""

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

SIDE, FLOATS = 3072, 2**25
"""Side of the square matrices, and length of the float32 arrays, 128 MiB each."""
_REPETITIONS = 20


@dataclass(frozen=True)
class Ceilings:
    """Operations per second of matrix products summed in float32, by dtype, and bytes per second to and from memory."""

    float32: float
    bfloat16: float
    memory: float

    def at(self, intensity: float) -> float:
        """Maximum operations per second in float32 at an intensity in operations per byte."""
        return min(self.float32, intensity * self.memory)

    def or_higher(self, other: "Ceilings") -> "Ceilings":
        """Take the higher of each ceiling in two measurements: other work on the machine can only lower them."""
        return Ceilings(*map(max, astuple(self), astuple(other)))


def ceilings_here() -> Ceilings:
    """Measure the ceilings of this machine as XLA uses it: the best of several samples."""
    return Ceilings(_of_products(jnp.float32), _of_products(jnp.bfloat16), _of_memory())


def seconds_of(call: Callable[[], Any], repetitions: int) -> list[float]:
    """Measure the seconds of several calls, after one that compiles and one that warms up."""
    found = []
    for _ in range(2 + repetitions):
        start = time.perf_counter()
        jax.block_until_ready(call())
        found.append(time.perf_counter() - start)
    return found[2:]


def _of_products(dtype: Any) -> float:  # noqa: ANN401 - a dtype
    """Measure the operations per second of a product of large square matrices."""
    first, second = (jax.random.normal(jax.random.key(key), (SIDE, SIDE), dtype) for key in (0, 1))
    product = jax.jit(lambda one, other: jnp.matmul(one, other, preferred_element_type=jnp.float32))
    return 2 * SIDE**3 / min(seconds_of(lambda: product(first, second), _REPETITIONS))


def _of_memory() -> float:
    """Measure the bytes per second of ``x += y / 2``: twelve per element, for two floats read and one written.

    In place, because writing to another array would first read the overwritten memory, which is not counted.
    """
    add = jax.jit(lambda x, y: x + 0.5 * y, donate_argnums=0)
    x, y = jnp.ones(FLOATS), jnp.ones(FLOATS)

    def again() -> Array:
        nonlocal x
        x = add(x, y)
        return x

    return 3 * x.nbytes / min(seconds_of(again, _REPETITIONS))

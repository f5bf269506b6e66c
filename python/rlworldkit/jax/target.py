"""The platform that a function is traced for, where an engine writes the same computation in two ways.

A TPU's vector has 8 rows of 128 numbers, and launching an operation costs as much as computing hundreds of vectors. A
condition that saves work on a CPU can cost more than that work on a TPU.
"""

from contextlib import AbstractContextManager
from contextvars import ContextVar

import jax
from jax import Array

from rlworldkit.jax.switches import holding

_LANES = 128
"""Numbers in a row of a TPU's vector."""

_platform: ContextVar[str | None] = ContextVar("platform", default=None)


def is_tracing_for(platform: str) -> bool:
    """Whether traces are for this platform: JAX's default one, unless ``tracing_for`` names another."""
    return (_platform.get() or jax.default_backend()) == platform


def tracing_for(platform: str) -> AbstractContextManager[None]:
    """Context that traces for this platform (``cpu``, ``gpu``, ``tpu``), which need not be present."""
    return holding(_platform, platform)


def in_rows(leaf: Array) -> Array:
    """Reshape a batch of games to rows of a TPU's vectors, (rows, 128), if 128 divides their number; else unchanged.

    Leading axes, such as one of cells, then cost nothing: a TPU tiles the last two axes.
    """
    return leaf.reshape(-1, _LANES) if leaf.size and leaf.size % _LANES == 0 else leaf

"""The platform that a function is traced for, where an engine writes the same computation in two ways.

A vector of a TPU has 8 rows of 128 numbers, and to launch an operation costs as much as hundreds of vectors: there a
condition is dearer than the work that it spares a CPU.
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
    """True where what is traced is for this platform: JAX's default one, unless ``tracing_for`` names another."""
    return (_platform.get() or jax.default_backend()) == platform


def tracing_for(platform: str) -> AbstractContextManager[None]:
    """Trace for this platform (``cpu``, ``gpu``, ``tpu``), which need not be there, as a context."""
    return holding(_platform, platform)


def in_rows(leaf: Array) -> Array:
    """The games of a batch in rows of a TPU's vectors, (rows, 128), where their number allows it; else as they are.

    Axes before them, such as one of cells, then cost nothing: a TPU tiles the last two.
    """
    return leaf.reshape(-1, _LANES) if leaf.size and leaf.size % _LANES == 0 else leaf

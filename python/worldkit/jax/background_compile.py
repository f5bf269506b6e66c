"""Compile programs in threads while others are traced: XLA works outside Python's lock."""

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

_IMPORTED_BY_COMPILING = "scipy.linalg"
"""The first program that JAX compiles imports it, and tracing may come to it by way of distrax."""


def compile_in_background(threads: int) -> ThreadPoolExecutor:
    """An executor with so many threads, to compile in while the caller traces.

    What both would import is imported first: where two threads begin with different modules of a package, each can end
    up waiting for the other's, and then the import fails.
    """
    import_module(_IMPORTED_BY_COMPILING)
    return ThreadPoolExecutor(threads)

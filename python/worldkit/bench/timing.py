"""Compiling and repeating a jitted function under the clock."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import jax
from jax.experimental.compilation_cache import compilation_cache

# Long enough that the clock and the scheduler do not matter, short enough for five repetitions.
SECONDS_PER_SAMPLE = 1.0

Carry = TypeVar("Carry")


@dataclass(frozen=True, slots=True)
class Program(Generic[Carry]):
    """A compiled function from a carry to the next carry.

    Attributes:
        call: the executable.
        trace_seconds: tracing to a jaxpr and lowering to StableHLO.
        compile_seconds: XLA's compilation, never from a cache.
        peak_bytes: the executable's arguments, outputs and temporary buffers at once, as XLA planned them
            (its code and what the process holds besides are not in it).
    """

    call: Callable[[Carry], Carry]
    trace_seconds: float
    compile_seconds: float
    peak_bytes: int


def compile_program(function: Callable[[Carry], Carry], carry: Carry) -> Program[Carry]:
    """Trace, lower and compile ``function`` for carries (pytrees) shaped like ``carry``, from scratch.

    Neither the disk cache nor anything that this process traced or compiled before is used.
    """
    jax.clear_caches()
    with _no_disk_cache():
        start = time.perf_counter()
        lowered = jax.jit(function).trace(carry).lower()
        traced = time.perf_counter()
        executable = lowered.compile()
        compiled = time.perf_counter()
    memory = executable.memory_analysis()
    used = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
    return Program(executable, traced - start, compiled - traced, used - memory.alias_size_in_bytes)


def calls_per_second(call: Callable[[Carry], Carry], carry: Carry) -> Iterator[float]:
    """Samples without end: calls per second of ``call``, which gets its own carry again.

    Before the first sample two calls are made and not counted: one that warms up, one whose time decides how many calls
    a sample of at least ``SECONDS_PER_SAMPLE`` needs. Samples of several programs that are drawn in turn, as ``zip``
    draws them, meet the same load of the machine.
    """
    carry = jax.block_until_ready(call(carry))
    start = time.perf_counter()
    carry = jax.block_until_ready(call(carry))
    calls = math.ceil(SECONDS_PER_SAMPLE / (time.perf_counter() - start))
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            carry = call(carry)
        jax.block_until_ready(carry)
        yield calls / (time.perf_counter() - start)


@contextmanager
def _no_disk_cache() -> Iterator[None]:
    enabled = jax.config.values["jax_enable_compilation_cache"]
    jax.config.update("jax_enable_compilation_cache", False)
    # JAX decides once per process whether it uses the cache; only a reset makes it look at the setting again.
    compilation_cache.reset_cache()
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", enabled)
        compilation_cache.reset_cache()

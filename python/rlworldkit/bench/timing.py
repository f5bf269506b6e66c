"""Compile a jitted function, and time repeated calls of it."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, TypeVar

import jax
from jax.experimental.compilation_cache import compilation_cache

from rlworldkit.bench.records import Record, plain_record
from rlworldkit.jax.xla import compiler_options

# Long enough that the clock and the scheduler do not matter, short enough for five repetitions.
SECONDS_PER_SAMPLE = 1.0

Carry = TypeVar("Carry")


@dataclass(frozen=True, slots=True)
class TimedProgram(Generic[Carry]):
    """A compiled function from a carry to the next carry, its first carry, and the costs of compiling it.

    trace_seconds: tracing and lowering to StableHLO. compile_seconds: XLA's compilation, never from a cache.
    peak_bytes: the executable's arguments, outputs and temporary buffers at once, as XLA planned them.
    """

    call: Callable[[Carry], Carry]
    carry: Carry
    trace_seconds: float
    compile_seconds: float
    peak_bytes: int


def compile_program(function: Callable[[Carry], Carry], carry: Carry) -> TimedProgram[Carry]:
    """Trace, lower and compile ``function`` for carries (pytrees) shaped like ``carry``, from scratch.

    Neither the disk cache nor anything that this process traced or compiled before is used.
    """
    jax.clear_caches()
    with _no_disk_cache():
        start = time.perf_counter()
        lowered = jax.jit(function).trace(carry).lower()
        traced = time.perf_counter()
        executable = lowered.compile(compiler_options(jax.default_backend(), lowered.as_text))
        compiled = time.perf_counter()
    memory = executable.memory_analysis()
    used = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
    return TimedProgram(executable, carry, traced - start, compiled - traced, used - memory.alias_size_in_bytes)


Clock = Callable[[], float]


def calls_per_second(program: TimedProgram[Carry], clock: Clock = time.perf_counter) -> Iterator[float]:
    """Yield samples without end: calls per second of ``clock`` of a program, each with the carry of the last call.

    Two calls before the first sample are not counted: one warms up, and the time of the other decides how many calls
    a sample of at least ``SECONDS_PER_SAMPLE`` needs. Samples of several programs that are drawn in turn, as ``zip``
    draws them, are taken under the same load of the machine.
    """
    carry = jax.block_until_ready(program.call(program.carry))
    start = clock()
    carry = jax.block_until_ready(program.call(carry))
    calls = math.ceil(SECONDS_PER_SAMPLE / (clock() - start))
    while True:
        start = clock()
        for _ in range(calls):
            carry = program.call(carry)
        jax.block_until_ready(carry)
        yield calls / (clock() - start)


def alone(
    name: str,
    num_envs: int,
    program: TimedProgram[Carry],
    steps: int,
    repetitions: int,
    clock: Clock = time.perf_counter,
) -> Record:
    """Measure steps per second of ``clock`` of a program that makes ``steps`` steps, over all games, in a call."""
    calls = islice(calls_per_second(program, clock), repetitions)
    return replace(
        plain_record(name, num_envs, [each * steps for each in calls]),
        compile_seconds=program.compile_seconds,
        trace_seconds=program.trace_seconds,
        peak_bytes=program.peak_bytes,
    )


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

"""Settings of the compiler that must be in the environment before JAX makes its first backend."""

import os
from pathlib import Path

import platformdirs

from parity.arguments import Whole
from worldkit.cores import share_of_cores

PARTS = Whole(1, 2**8)
"""Into how many devices a processor can be split."""
_WIDE_VECTORS = "--xla_cpu_prefer_vector_width"
_DEVICES, _THREADS = "--xla_force_host_platform_device_count", "PJRT_NPROC"


def prefer_wide_vectors() -> None:
    """Let XLA's CPU code use 512-bit vectors where the processor has them, unless XLA_FLAGS says otherwise.

    A batch of games is long vectors of words, which is what wide registers are for.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if _WIDE_VECTORS not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_WIDE_VECTORS}=512".strip()


def of_parts(parts: int) -> dict[str, str]:
    """What the environment says so that JAX sees the processor as so many devices, each with its share of the cores.

    A step of the games is thousands of small operations: to hand one out to a second thread takes longer than the
    operation, so that a core plays faster by itself.
    """
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {_DEVICES}={parts}".strip(), **threads_of_a_share(parts)}


def threads_of_a_share(parts: int) -> dict[str, str]:
    """What the environment says so that a device of the processor uses one of so many shares of the cores.

    It is left as it is where PJRT_NPROC says so.
    """
    return {_THREADS: os.environ.get(_THREADS, str(share_of_cores(parts)))}


def keep_compiled_programs(application: str) -> None:
    """Keep what XLA compiles from one run to the next.

    It is kept in JAX_COMPILATION_CACHE_DIR if that is set, else in the user's cache directory of ``application``.
    """
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(platformdirs.user_cache_dir(application)) / "jax"))

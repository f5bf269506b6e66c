"""Settings of the compiler that must be in the environment before JAX makes its first backend."""

import os
from pathlib import Path

import platformdirs

_WIDE_VECTORS = "--xla_cpu_prefer_vector_width"


def prefer_wide_vectors() -> None:
    """Let XLA's CPU code use 512-bit vectors where the processor has them, unless XLA_FLAGS says otherwise.

    A batch of games is long vectors of words, which is what wide registers are for.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if _WIDE_VECTORS not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_WIDE_VECTORS}=512".strip()


def keep_compiled_programs(application: str) -> None:
    """Keep what XLA compiles from one run to the next.

    It is kept in JAX_COMPILATION_CACHE_DIR if that is set, else in the user's cache directory of ``application``.
    """
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(platformdirs.user_cache_dir(application)) / "jax"))

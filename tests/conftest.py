"""What every test needs before JAX is imported: the CPU, and compiled programs kept between runs."""

import os
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "jax"

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")

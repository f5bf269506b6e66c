"""What every test needs before JAX is imported: the CPU, and compiled programs kept between runs."""

import os
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "jax"

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# One thread of torch for each worker: more of them wait for each other on the same cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")

import numpy as np  # noqa: E402 - JAX must find its settings first
import pytest  # noqa: E402

from hackmatrix.swift_env import SwiftEngineError, SwiftGames  # noqa: E402


@pytest.fixture(scope="session")
def swift_built() -> None:
    """The Swift engine can be started: else these tests are skipped, aloud, and fail in CI."""
    try:
        SwiftGames(np.zeros(1, np.uint64)).close()
    except SwiftEngineError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))

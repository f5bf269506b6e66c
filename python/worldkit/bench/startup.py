"""How long the command ``train`` takes from its start to the metrics of the first update."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from parity.errors import ParityError
from worldkit.bench.records import Record, plain_record
from worldkit.purejaxrl.config import TrainConfig

POLL_SECONDS = 0.02


def measure(module: str, num_envs: int, repetitions: int) -> list[Record]:
    """``seconds_to_first_update_cold`` and ``_warm``: wall time of ``python -m module train``.

    Cold is a new, empty JAX compilation cache for every repetition; warm is the cache that the cold run before
    it left. The clock stops when the first row of ``metrics.csv`` is on the disk. Tracing and compiling are part
    of the value, and memory is not measured.
    """
    cold, warm = [], []
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(seconds_to_first_update(module, num_envs, cache))
            warm.append(seconds_to_first_update(module, num_envs, cache))
    return [
        plain_record("seconds_to_first_update_cold", num_envs, cold, unit="s"),
        plain_record("seconds_to_first_update_warm", num_envs, warm, unit="s"),
    ]


def seconds_to_first_update(module: str, num_envs: int, cache: str) -> float:
    """Run the command for one update with ``cache`` as JAX's compilation cache; wall seconds.

    Raises:
        ParityError: the command failed or left no metrics; the message ends with what it said last.
    """
    with tempfile.TemporaryDirectory() as folder:
        metrics = Path(folder) / "run" / "metrics.csv"
        log = Path(folder) / "log"
        with log.open("w") as output:
            start = time.perf_counter()
            process = subprocess.Popen(
                _one_update(module, num_envs, folder),
                env={**os.environ, "JAX_COMPILATION_CACHE_DIR": cache},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                while not _has_a_row(metrics) and process.poll() is None:
                    time.sleep(POLL_SECONDS)
                seconds = time.perf_counter() - start
                process.wait()
            finally:
                process.kill()
        if process.returncode or not _has_a_row(metrics):
            last_words = (log.read_text().strip().splitlines() or ["it said nothing"])[-1]
            raise ParityError(f"`{module} train` did not reach its first update: {last_words}")
        return seconds


def _one_update(module: str, num_envs: int, folder: str) -> list[str]:
    steps = TrainConfig(num_envs=num_envs).batch_size
    options = {
        "--num-envs": num_envs,
        "--total-timesteps": steps,
        "--log-interval": 1,
        "--checkpoint-dir": folder,
        "--run-name": "run",
    }
    words = [str(word) for option in options.items() for word in option]
    return [sys.executable, "-m", module, "train", "--no-wandb", *words]


def _has_a_row(metrics: Path) -> bool:
    return metrics.exists() and metrics.read_text().count("\n") >= 2  # the heading is the first line

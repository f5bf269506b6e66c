"""Benchmark of commands, each in a process of its own: the time from its start to the result that a user waits for."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rlparity import World
from rlparity.core.prices import changed_prices, price_flags
from rlparity.engines.module_paths import search_path
from rlparity.engines.python_process import python_command, python_environment
from rlparity.errors import ParityError
from rlworldkit.bench.records import Record, plain_record
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.params import trained_files
from rlworldkit.runs.folder import METRICS

OUTPUT = "output"
"""Name of the file with a command's output, in its folder."""
EPISODES = 8
"""Number of games of ``evaluate``: few, since only the start is measured."""
CACHES = ("cold", "warm")
POLL_SECONDS = 0.02
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class CommandCost(NamedTuple):
    """Wall time of a command until an awaited result, and processor time and peak memory of the whole command."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Start:
    """A command whose startup is measured, the name of the result that a user awaits, and its games at a time.

    words: the words after ``python -m``; ``{folder}`` stands for a folder of its own, and ``{agent}`` for parameters
    that an earlier command left. is_there: tells whether the awaited result is there, given the folder, whose file
    ``OUTPUT`` has the command's output; None: the command's end is awaited.
    """

    name: str
    words: tuple[str, ...]
    games: int
    is_there: Callable[[Path], bool] | None = None


def measure(world: World, module: str, own: Sequence[Start], num_envs: int, repetitions: int) -> Iterator[Record]:
    """Measure wall time, ``seconds_to_NAME_cold`` and ``_warm``, and ``cpu_seconds_to_NAME_…``, of each start.

    Every command has a process of its own. Cold has a new, empty JAX compilation cache in every repetition; warm has
    the cache that the cold run before it left. Processor time is that of the whole command. Tracing and compiling are
    part of the value. Raises ParityError if a command failed, or ended without the awaited result.
    """
    prices = tuple(price_flags(changed_prices(world)))
    with tempfile.TemporaryDirectory() as folder:
        for start in (*_starts(module, num_envs), *own):
            start = replace(start, words=(*start.words, *prices))
            runs = [[*_cold_and_warm(start, Path(folder))] for _ in range(repetitions)]
            for cache, of_cache in zip(CACHES, zip(*runs, strict=True), strict=True):
                for name in ("seconds", "cpu_seconds"):
                    values = [getattr(each, name) for each in of_cache]
                    yield plain_record(f"{name}_to_{start.name}_{cache}", start.games, values, unit="s")


def _starts(module: str, num_envs: int) -> list[Start]:
    """Starts of all programs: ``train`` until the first update's metrics are on disk, and ``evaluate`` of its agent."""
    steps, few = TrainConfig(num_envs=num_envs).batch_size, str(EPISODES)
    flags = f"--no-wandb --num-envs {num_envs} --total-timesteps {steps} --log-interval 1"
    train = module, "train", *flags.split(), "--checkpoint-dir", "{folder}", "--run-name", "run"
    evaluate = module, "evaluate", "{agent}", "--games", few, "--num-envs", few
    return [Start("first_update", train, num_envs, _has_a_row), Start("evaluate", evaluate, EPISODES)]


def _cold_and_warm(start: Start, everything: Path) -> Iterator[CommandCost]:
    with tempfile.TemporaryDirectory() as cache:
        for _ in CACHES:
            folder = Path(tempfile.mkdtemp(dir=everything))
            agent = next(iter(trained_files(everything)), None)
            words = [word.format(folder=folder, agent=agent) for word in start.words]
            is_there = partial(start.is_there, folder) if start.is_there else None
            yield spent(words, folder / OUTPUT, {"JAX_COMPILATION_CACHE_DIR": cache}, is_there)


def _has_a_row(folder: Path) -> bool:
    metrics = folder / "run" / METRICS
    return metrics.exists() and metrics.read_text().count("\n") >= 2  # the heading is the first line


def spent(
    words: Sequence[str], output: Path, environment: Mapping[str, str], is_there: Callable[[], bool] | None = None
) -> CommandCost:
    """Run ``python -m`` with these words to its end, with its output in the file ``output``.

    environment: variables that differ from this process's. is_there: tells whether the awaited result is there; None:
    the command's end is awaited. Raises ParityError, with the last line of output, if it failed or ended before that.
    """
    start = time.perf_counter()
    seconds = None
    with output.open("w") as log:
        process = subprocess.Popen(
            python_command("-m", *words),
            env=python_environment(environment, search_path()),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        ended = 0
        while not ended:
            # Popen itself reports neither processor time nor memory
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if seconds is None and (is_there() if is_there else ended):
                seconds = time.perf_counter() - start
            if not ended:
                time.sleep(POLL_SECONDS)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        process.kill()  # no effect on an ended process
        process.wait()
    if process.returncode or seconds is None:
        last_words = (output.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
        raise ParityError(f"`python -m {' '.join(words[:2])}` failed or gave no result: {last_words}")
    return CommandCost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _RSS_UNIT)

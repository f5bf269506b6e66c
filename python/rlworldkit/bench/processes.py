"""Measure the time and memory that commands take, each in a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rlparity.engines.module_paths import search_path
from rlparity.engines.python_process import python_command, python_environment
from rlparity.errors import ParityError

POLL_SECONDS = 0.02
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class CommandCost(NamedTuple):
    """Wall time of a command until an awaited result, and processor time and peak memory of the whole command."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


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

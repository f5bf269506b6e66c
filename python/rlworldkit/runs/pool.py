"""Pool of runs side by side, each a command in a process of its own with its share of the cores.

A pipe connects each run with the process that started it. The run ends, as on Ctrl-C, when that process sends a
message through the pipe, or is gone.
"""

import contextlib
import math
import os
import pickle
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple, cast

from rlparity.engines.module_paths import search_path
from rlparity.engines.python_process import python_command, python_environment
from rlparity.errors import INTERRUPTED_EXIT_CODE, ParityError
from rlworldkit.jax.xla import share_of_cores, threads_of_a_share
from rlworldkit.runs.folder import make_folder
from rlworldkit.runs.sinks import Metrics

LOG = "train.log"
"""File in a run's folder for the output of its process."""
_PIPE = "RLWORLDKIT_RUN_PIPE"
"""Environment variable with the file descriptor of a run's pipe to the process that started it."""
_PREALLOCATES = "XLA_PYTHON_CLIENT_PREALLOCATE"
_POLL_SECONDS = 0.25


class RunTask(NamedTuple):
    """A run to start in a process of its own.

    name: shown in tables and messages. folder: the run's folder, whose ``train.log`` gets what the process prints.
    words: the command after ``python -m``. job: an object for the process, which finds it in ``Parent.job``.
    """

    name: str
    folder: Path
    words: Sequence[str]
    job: Any = None


def train_many(
    tasks: Sequence[RunTask],
    at_once: int,
    *,
    report: Callable[[Metrics, str], None],
    print_line: Callable[[str], None] = lambda line: None,
    ended: Callable[[str, Any], None] = lambda name, result: None,
    should_stop: Callable[[], bool] = lambda: False,
    environment: Mapping[str, str] = {},
) -> list[Any]:
    """Train these runs, ``at_once`` at the same time; return the result of each, in their order.

    A result is what the run passed to ``Parent.finish``; an exception if it failed or died, which ends no other run; or
    None if it did not begin or stopped before its first update. Raises UsageError if a folder cannot be written.

    report: takes each row of metrics and the name of its run. print_line: takes lines for the user. ended: takes the
    name of a run and its result as soon as it ends. should_stop: called several times a second; once it returns true,
    running runs save and end, and no other begins. environment: variables that differ from those of this process.
    """
    # an accelerator's memory is shared, too
    shares = {"OMP_NUM_THREADS": str(share_of_cores(at_once)), _PREALLOCATES: "false"}
    shares = {name: os.environ.get(name, value) for name, value in shares.items()} | threads_of_a_share(at_once)
    results: list[Any] = [None] * len(tasks)
    waiting, is_stopping = list(reversed(range(len(tasks)))), False
    running: dict[Connection, tuple[int, subprocess.Popen[bytes]]] = {}  # keys: pipes to the processes
    try:
        while running or (waiting and not should_stop()):
            while waiting and len(running) < at_once and not should_stop():
                index = waiting.pop()
                process, pipe = _started(tasks[index], {**shares, **environment})
                running[pipe] = index, process
            for ready in wait([*running], _POLL_SECONDS):
                pipe = cast(Connection, ready)
                index, process = running[pipe]
                task, message = tasks[index], _received(pipe)
                if isinstance(message, dict):
                    report(message, task.name)
                elif isinstance(message, str):
                    print_line(f"{task.name}: {message}")
                elif message is not None:
                    (results[index],) = message
                else:
                    results[index] = _failure(task, process.wait()) or results[index]
                    del running[pipe]
                    pipe.close()
                    ended(task.name, results[index])
            if should_stop() and not is_stopping:
                is_stopping = True
                _say_stop(running)
    finally:
        _say_stop(running)
    return results


def _started(task: RunTask, environment: Mapping[str, str]) -> tuple[subprocess.Popen[bytes], Connection]:
    make_folder(task.folder, "choose another")
    ours, theirs = Pipe()
    with theirs, (task.folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            python_command("-m", *task.words),
            env={**python_environment({}, search_path()), _PIPE: str(theirs.fileno()), **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # a terminal's Ctrl-C reaches only the parent
        )
        with contextlib.suppress(OSError):  # the process has ended already
            ours.send(task.job)
    return process, ours


def _received(pipe: Connection) -> Any:  # noqa: ANN401 - a row, a line, a result in a tuple, or None where it has ended
    try:
        return pipe.recv()
    except (EOFError, OSError, pickle.UnpicklingError):
        return None


def _say_stop(pipes: Iterable[Connection]) -> None:
    for pipe in pipes:
        with contextlib.suppress(OSError):  # the process has just ended
            pipe.send("stop")


def _failure(task: RunTask, code: int) -> ParityError | None:
    """Exception for a process that ended with this exit code; None if it succeeded or was interrupted."""
    if code in (0, INTERRUPTED_EXIT_CODE):
        return None
    if code < 0:
        return ParityError(f"ended by signal {-code}")
    lines = (task.folder / LOG).read_text(errors="replace").split("\n")
    return ParityError(next(filter(None, reversed(lines)), f"exit code {code}"))


class Parent:
    """Connection to the process that started this run, to which the run sends its metrics, lines and result."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.job: Any = pipe.recv()
        threading.Thread(target=self._stop_at_its_word, daemon=True).start()

    def report(self, metrics: Metrics) -> None:
        """Send a row of metrics."""
        self._send(dict(metrics))

    def print_line(self, line: str) -> None:
        """Send a line for the user."""
        self._send(line)

    def finish(self, result: object) -> None:
        """Send the result of the run."""
        self._send((result,))

    def _send(self, message: object) -> None:
        with contextlib.suppress(OSError):  # the parent is gone, which also ends this run
            self._pipe.send(message)

    def _stop_at_its_word(self) -> None:
        """Interrupt this process, as Ctrl-C does, once the parent sends a message or is gone."""
        with contextlib.suppress(EOFError, OSError):
            self._pipe.recv()
        os.kill(os.getpid(), signal.SIGINT)


def parent_process() -> Parent | None:
    """Connect to the process whose ``train_many`` started this one; None if there is none."""
    descriptor = os.environ.pop(_PIPE, None)
    return None if descriptor is None else Parent(Connection(int(descriptor)))


def last_value(rows: Sequence[Metrics], metric: str) -> float:
    """Mean of a metric over the last tenth of a run's rows; NaN if none of them has it."""
    last = (row.get(metric, math.nan) for row in rows[-max(1, len(rows) // 10) :])
    known = [value for value in last if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan

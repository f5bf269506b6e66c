"""Runs side by side, each a command in a process of its own with its share of the cores.

A run ends, as on Ctrl-C, once the pipe to the process that started it closes: when it is asked to stop, and when that
process is gone.
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
"""The file in a run's folder that gets what its process prints."""
_PIPE = "RLWORLDKIT_RUN_PIPE"
"""The environment variable with the descriptor by which a run talks to the process that started it."""
_PREALLOCATES = "XLA_PYTHON_CLIENT_PREALLOCATE"
_POLL_SECONDS = 0.25


class RunTask(NamedTuple):
    """A run to make in a process of its own.

    name: in tables and messages. folder: of the run; its ``train.log`` gets what the process prints. words: after
    ``python -m``. job: for the process, which `parent_process` gives it.
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
    """Make these runs, so many at the same time; return the result of each, in their order.

    That is what it gave to ``Parent.finish``, an exception where it failed or died, which ends no other, and None where
    it has not begun or was stopped before its first update. Raises UsageError where a folder cannot be written.

    report: takes each row of metrics and the name of its run. print_line: takes lines for the user. ended: takes the
    name of a run and its result as soon as it ends. should_stop: asked several times a second; then the runs that have
    begun save and end, and no other begins. environment: variables that differ from those here.
    """
    # an accelerator's memory is shared, too
    shares = {"OMP_NUM_THREADS": str(share_of_cores(at_once)), _PREALLOCATES: "false"}
    shares = {name: os.environ.get(name, value) for name, value in shares.items()} | threads_of_a_share(at_once)
    results: list[Any] = [None] * len(tasks)
    waiting, is_stopping = list(reversed(range(len(tasks)))), False
    running: dict[Connection, tuple[int, subprocess.Popen[bytes]]] = {}  # by the pipe to it
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
            start_new_session=True,  # a terminal's Ctrl-C comes to the first process alone
        )
        with contextlib.suppress(OSError):  # it has ended already
            ours.send(task.job)
    return process, ours


def _received(pipe: Connection) -> Any:  # noqa: ANN401 - a row, a line, a result in a tuple, or None where it has ended
    try:
        return pipe.recv()
    except (EOFError, OSError, pickle.UnpicklingError):
        return None


def _say_stop(pipes: Iterable[Connection]) -> None:
    for pipe in pipes:
        with contextlib.suppress(OSError):  # it has just ended
            pipe.send("stop")


def _failure(task: RunTask, code: int) -> ParityError | None:
    """The exception of a process that ended with a code; None where that is well."""
    if code in (0, INTERRUPTED_EXIT_CODE):
        return None
    if code < 0:
        return ParityError(f"ended by signal {-code}")
    lines = (task.folder / LOG).read_text(errors="replace").split("\n")
    return ParityError(next(filter(None, reversed(lines)), f"exit code {code}"))


class Parent:
    """The process that started this run: a run whose outputs are its methods shows there what it does."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.job: Any = pipe.recv()
        threading.Thread(target=self._stop_at_its_word, daemon=True).start()

    def report(self, metrics: Metrics) -> None:
        """Show a row of metrics."""
        self._send(dict(metrics))

    def print_line(self, line: str) -> None:
        """Print a line for the user."""
        self._send(line)

    def finish(self, result: object) -> None:
        """Hand over the result of the run."""
        self._send((result,))

    def _send(self, message: object) -> None:
        with contextlib.suppress(OSError):  # it is gone: save and end
            self._pipe.send(message)

    def _stop_at_its_word(self) -> None:
        """Stop as on Ctrl-C once it says so or is gone."""
        with contextlib.suppress(EOFError, OSError):
            self._pipe.recv()
        os.kill(os.getpid(), signal.SIGINT)


def parent_process() -> Parent | None:
    """The process whose ``train_many`` started this one, if one did."""
    descriptor = os.environ.pop(_PIPE, None)
    return None if descriptor is None else Parent(Connection(int(descriptor)))


def last_value(rows: Sequence[Metrics], metric: str) -> float:
    """The mean of a metric over the last tenth of a run's rows, NaN where none has it."""
    last = (row.get(metric, math.nan) for row in rows[-max(1, len(rows) // 10) :])
    known = [value for value in last if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan

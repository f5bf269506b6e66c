"""Training runs side by side: each is the world's command ``train`` in a process and a folder of its own.

A run ends, as on Ctrl-C, once its standard input does: when it is asked to stop, and when its parent is gone.
"""

import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rlparity.engines.module_paths import search_path
from rlparity.engines.python_process import python_command, python_environment
from rlparity.errors import INTERRUPTED_EXIT_CODE
from rlworldkit.jax.xla import threads_of_a_share
from rlworldkit.runs.folder import METRICS, make_folder
from rlworldkit.runs.sinks import Metrics, read_csv

_STOPS_WITH_INPUT = "WORLDKIT_STOPS_WITH_INPUT"
"""The environment variable of a run that ends once its standard input does."""
_PREALLOCATES = "XLA_PYTHON_CLIENT_PREALLOCATE"
_LOG = "train.log"
_POLL_SECONDS = 0.25


class TrainProcess:
    """One run. name: in tables. words: after ``train``. agent: its file, of the run's end, in the run's folder.

    rows: its metrics so far. outcome: None until it has ended, then how it did, in a word or a sentence.
    """

    def __init__(self, name: str, words: Sequence[str], agent: Path) -> None:
        self.name, self.words, self.agent, self.folder = name, words, agent, agent.parent
        self.rows: list[dict[str, float]] = read_csv(self.folder / METRICS)
        self.outcome = "finished" if agent.exists() else None
        self.has_failed = self._is_stopping = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, module: str, environment: Mapping[str, str]) -> None:
        """Start the command of a module; raises UsageError where the folder cannot be written."""
        make_folder(self.folder, "choose another --checkpoint-dir")
        with (self.folder / _LOG).open("ab") as log:
            self._process = subprocess.Popen(
                python_command("-m", module, "train", *self.words),
                env={**python_environment({}, search_path()), _STOPS_WITH_INPUT: "1", **environment},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a terminal's Ctrl-C comes to the first process alone
            )

    def stop(self) -> None:
        """Ask it to save and to end."""
        self._is_stopping = True
        if self._process and self._process.stdin:
            self._process.stdin.close()

    def new_rows(self) -> Iterator[Metrics]:
        """Read the metrics; returns the rows that were not there before."""
        seen = self.rows[-1]["update"] if self.rows else 0
        self.rows = read_csv(self.folder / METRICS)
        return (row for row in self.rows if row["update"] > seen)

    def fail(self, reason: str) -> None:
        """Say that it has failed, and why."""
        self.outcome, self.has_failed = f"failed: {reason}", True

    def has_ended(self) -> bool:
        """Whether it has ended, by itself or otherwise."""
        assert self._process is not None
        code = self._process.poll()
        if code in (0, INTERRUPTED_EXIT_CODE):
            self.outcome = "stopped" if code or self._is_stopping else "finished"
        elif code is not None:
            said = (self.folder / _LOG).read_text(errors="replace").split("\n")
            self.fail(
                f"ended by signal {-code}" if code < 0 else next(filter(None, reversed(said)), f"exit code {code}")
            )
        return code is not None


def train_all(
    module: str,
    runs: Sequence[TrainProcess],
    at_once: int,
    environment: Mapping[str, str],
    *,
    should_stop: Callable[[], bool],
    write: Callable[[Metrics, str], None],
) -> None:
    """Train the runs that have not ended, so many at the same time, each with its share of the cores.

    What befalls one leaves the others alone. environment: variables that differ from those here. should_stop: asked
    several times a second; then the runs that have begun save and end, and no other begins. write: takes each new row
    of metrics and the name of its run.
    """
    # an accelerator's memory is shared, too
    memory = {_PREALLOCATES: os.environ.get(_PREALLOCATES, "false")}
    environment = {**threads_of_a_share(at_once), **memory, **environment}
    waiting, running = [run for run in reversed(runs) if run.outcome is None], list[TrainProcess]()
    try:
        while running or (waiting and not should_stop()):
            while waiting and len(running) < at_once and not should_stop():
                running.append(waiting.pop())
                running[-1].start(module, environment)
            time.sleep(_POLL_SECONDS)
            ended = [run for run in running if run.has_ended()]
            for run in running:
                for row in run.new_rows():
                    write(row, run.name)
                if should_stop():
                    run.stop()
            running = [run for run in running if run not in ended]
    finally:
        for run in running:
            run.stop()


def last_value(rows: Sequence[Metrics], metric: str) -> float:
    """The mean of a metric over the last tenth of a run's rows, NaN where none has it."""
    last = (row.get(metric, math.nan) for row in rows[-max(1, len(rows) // 10) :])
    known = [value for value in last if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def stop_with_input() -> None:
    """End this process as Ctrl-C does once its standard input ends, if ``train_all`` started it."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    if os.environ.pop(_STOPS_WITH_INPUT, None):
        threading.Thread(target=wait, daemon=True).start()

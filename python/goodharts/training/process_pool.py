"""Several modes trained side by side, each in a process of its own; what befalls one leaves the others alone."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from goodharts.training.engines import train_mode
from goodharts.training.runs import Job, ModeRun, RunResult, nothing_to_keep
from rlparity.errors import ParityError
from rlworldkit.jax.xla import share_of_cores, threads_of_a_share
from rlworldkit.runs.sinks import Metrics
from rlworldkit.runs.stop import StopRequest

_POLL_SECONDS = 0.2


def train_modes(
    jobs: Sequence[Job],
    at_once: int,
    *,
    report: Callable[[Metrics, str], None],
    print_line: Callable[[str], None],
    ended: Callable[[RunResult], None],
    should_stop: Callable[[], bool],
) -> list[RunResult]:
    """Train these runs, so many at once, and return how each ended, in their order.

    report: takes the metrics of each update and the label of its run. print_line: takes lines for the user. ended:
    takes the result of a mode, as soon as it ends. should_stop: asked several times a second; then all modes save and
    end. One without an update has nothing to save, and ends at once.
    """
    # a worker reads these as it starts; several of them share a GPU's memory
    share = {"OMP_NUM_THREADS": str(share_of_cores(at_once)), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    for name, value in (share | threads_of_a_share(at_once)).items():
        os.environ.setdefault(name, value)
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    found: dict[str, RunResult] = {}
    workers: dict[Connection, tuple[str, BaseProcess]] = {}
    begun: set[str] = set()
    waiting, is_stopping = list(reversed(jobs)), False

    def begin_some() -> None:
        with _interrupts_ignored(), _safe_path():  # a worker that still starts leaves them to this process
            while waiting and len(workers) < at_once:
                job = waiting.pop()
                ours, theirs = context.Pipe()
                process: BaseProcess = context.Process(target=_work, args=(job, theirs), name=job.label)
                process.start()
                theirs.close()
                workers[ours] = job.label, process

    begin_some()
    while workers:
        for ready in wait(list(workers), _POLL_SECONDS):
            assert isinstance(ready, Connection)
            mode, process = workers[ready]
            message = None  # it died
            with contextlib.suppress(EOFError, OSError):
                message = ready.recv()
            if isinstance(message, dict):
                begun.add(mode)
                report(message, mode)
            elif isinstance(message, str):
                print_line(message)
            else:
                process.join()
                found[mode] = message or found.get(mode) or _died(mode, process.exitcode)
                ended(found[mode])
                ready.close()
                del workers[ready]
                begin_some()
        if should_stop() and not is_stopping:
            is_stopping = True
            found |= {job.label: nothing_to_keep(job.label) for job in waiting}
            waiting.clear()
            for worker, (mode, process) in workers.items():
                if mode not in begun:
                    found[mode] = nothing_to_keep(mode)
                    process.kill()
                    continue
                with contextlib.suppress(OSError):  # it has just ended
                    worker.send("stop")
    return [found[job.label] for job in jobs]


def _work(job: Job, parent: Connection) -> None:
    """Train one mode in a worker process, and send its parent rows, lines and the result."""

    def send(message: Metrics | str | RunResult) -> None:
        with contextlib.suppress(OSError):  # the parent is gone: save and end
            parent.send(message)

    def report(metrics: Metrics) -> None:
        send(dict(metrics))
        stop.requested = stop.requested or parent.poll()  # it says stop, or is gone

    with StopRequest() as stop:
        try:
            message = train_mode(
                ModeRun(job, report=report, print_line=lambda line: send(f"{job.label}: {line}"), stop=stop)
            )
        except ParityError as error:
            message = RunResult(job.label, "failed", str(error) if job.label in str(error) else f"{job.label}: {error}")
        except Exception as error:
            lines = str(error).splitlines() or [""]
            message = RunResult(job.label, "failed", f"{job.label} failed ({type(error).__name__}: {lines[0]}).")
        send(message)


def _died(mode: str, exit_code: int | None) -> RunResult:
    how = f"was ended by signal {-exit_code}" if exit_code and exit_code < 0 else f"ended with exit code {exit_code}"
    return RunResult(mode, "failed", f"{mode} failed: its process {how}; go on from its last checkpoint with --resume.")


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Start Python without the working directory on its path, where a file shadows a module of the same name."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore the signals that a terminal sends to all of its processes."""
    is_allowed = threading.current_thread() is threading.main_thread()  # elsewhere Python allows no signal handlers
    numbers = (signal.SIGINT, signal.SIGHUP) if is_allowed else ()
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""Several modes trained side by side, each in a process of its own; what befalls one leaves the others alone."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from goodharts.training.engines import engine_named, train_mode
from goodharts.training.runs import Job, Row, RunResult, nothing_to_keep
from parity.errors import ParityError
from worldkit.runs.stop import StopRequest

_POLL_SECONDS = 0.2
_STOP = "stop"


def train_modes(
    jobs: Sequence[Job],
    *,
    report: Callable[[Row], None],
    say: Callable[[str], None],
    ended: Callable[[RunResult], None],
    should_stop: Callable[[], bool],
) -> list[RunResult]:
    """Train these modes at once, and return how each ended, in their order.

    Args:
        jobs: one for each mode.
        report: takes the row of each update.
        say: takes lines for the user.
        ended: takes how a mode ended, as soon as it does.
        should_stop: asked several times a second; then all modes save and end. One without an update has nothing to
            save, and ends at once.
    """
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    found: dict[str, RunResult] = {}
    workers: dict[Connection, tuple[str, BaseProcess]] = {}
    begun: set[str] = set()
    given_up: set[str] = set()
    with _interrupts_ignored():  # a worker that still starts leaves them to this process
        for job in jobs:
            ours, theirs = context.Pipe()
            process: BaseProcess = context.Process(target=_work, args=(job, theirs, len(jobs)), name=job.mode)
            process.start()
            theirs.close()
            workers[ours] = job.mode, process
    is_told = False
    while workers:
        for ready in wait(list(workers), _POLL_SECONDS):
            assert isinstance(ready, Connection)
            mode, process = workers[ready]
            message = _received(ready)
            if isinstance(message, dict):
                begun.add(mode)
                report(message)
            elif isinstance(message, str):
                say(message)
            else:
                process.join()
                ended_early = nothing_to_keep(mode) if mode in given_up else _died(mode, process.exitcode)
                found[mode] = message or ended_early
                ended(found[mode])
                ready.close()
                del workers[ready]
        if should_stop() and not is_told:
            is_told = True
            for worker, (mode, process) in workers.items():
                if mode not in begun:
                    given_up.add(mode)
                    process.kill()
                    continue
                with contextlib.suppress(OSError):  # it has just ended
                    worker.send(_STOP)
    return [found[job.mode] for job in jobs]


def _work(job: Job, parent: Connection, processes: int) -> None:
    """A worker: trains one mode, and tells its parent how it goes."""

    def tell(message: Any) -> None:  # noqa: ANN401 - a row, a line, or how it ended
        with contextlib.suppress(OSError):  # the parent is gone: save and end
            parent.send(message)

    def report(row: Row) -> None:
        tell(row)
        stop.requested = stop.requested or parent.poll()  # it says stop, or is gone

    with StopRequest() as stop:
        try:
            engine_named(job.config.training.engine).share_cores(processes)
            message = train_mode(job, report=report, say=lambda line: tell(f"{job.mode}: {line}"), stop=stop)
        except ParityError as error:
            message = RunResult(job.mode, "failed", str(error) if job.mode in str(error) else f"{job.mode}: {error}")
        except Exception as error:
            lines = str(error).splitlines() or [""]
            message = RunResult(job.mode, "failed", f"{job.mode} failed ({type(error).__name__}: {lines[0]}).")
        tell(message)


def _received(worker: Connection) -> Any:  # noqa: ANN401 - a row, a line, how it ended; None: it died
    try:
        return worker.recv()
    except (EOFError, OSError):
        return None


def _died(mode: str, exit_code: int | None) -> RunResult:
    how = f"was ended by signal {-exit_code}" if exit_code and exit_code < 0 else f"ended with exit code {exit_code}"
    return RunResult(mode, "failed", f"{mode} failed: its process {how}; go on from its last checkpoint with --resume.")


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore the signals that a terminal sends to all of its processes."""
    try:
        before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)}
    except ValueError:  # outside the main thread, where Python allows no signal handlers
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

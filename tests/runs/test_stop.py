"""Ctrl-C and ``kill`` ask for a clean end once, and end the process the second time."""

import signal
import subprocess
import sys

import pytest

from worldkit.runs.stop import StopRequest

# in a process of its own: a signal that is not heard ends it
PROGRAM = """
import os, sys
from worldkit.runs.stop import StopRequest

number = int(sys.argv[1])
with StopRequest(announce=lambda: print("announced", flush=True)) as stop:
    os.kill(os.getpid(), number)
    print(stop.requested, flush=True)
    os.kill(os.getpid(), number)
    print("went on", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_asks_and_the_second_ends(number: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(number.value)], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["announced", "True"], done.stderr
    assert done.returncode == -number


def test_a_stream_in_use_that_takes_no_announcement_stops_nothing() -> None:
    """A signal may come in the midst of a print, and then Python's streams refuse another one."""

    def refused() -> None:
        raise RuntimeError("reentrant call inside <_io.BufferedWriter name='<stdout>'>")

    with StopRequest(refused) as stop:
        signal.raise_signal(signal.SIGTERM)
        assert stop.requested

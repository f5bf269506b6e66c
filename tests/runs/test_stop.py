"""Ctrl-C and ``kill`` ask for a clean end once, and end the process the second time."""

import signal
import subprocess
import sys

import pytest

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

"""Ctrl-C, ``kill`` and a terminal that closes ask for a clean end once there is something to save."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from rlparity.errors import INTERRUPTED_EXIT_CODE
from rlworldkit.runs.run import Run
from rlworldkit.runs.stop import StopRequest

# in a process of its own: a signal that is not heard ends it
SIGNALS = """
import os, signal, sys
from rlworldkit.runs.stop import StopRequest

signal.signal(signal.SIGHUP, getattr(signal, sys.argv[1]))
with StopRequest(announce=lambda: print("announced", flush=True)) as stop:
    for number in map(int, sys.argv[2:]):
        os.kill(os.getpid(), number)
        print(stop.requested, flush=True)
"""

# a native call that a handler of Python's has to wait for, as compiling is
NATIVE = """
import hashlib, os, signal, sys, threading
from importlib import import_module

signal.signal(signal.SIGHUP, signal.SIG_DFL)

def native(*_, **__):
    threading.Thread(target=os.kill, args=(os.getpid(), {number})).start()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""

WAITING = """
from rlworldkit.runs.stop import StopRequest

with StopRequest(announce=lambda: print("announced"), give_up=lambda: print("gave up", flush=True)):
    native()
"""

TRAINING = """
from orchard import WORLD
from rlworldkit.cli.app import main

setattr(import_module("{module}"), "{name}", native)
main(WORLD, ["{command}", "--no-wandb"])
"""

CLOSED = [signal.SIGHUP, signal.SIGHUP, signal.SIGTERM]  # a terminal that closes sends SIGHUP several times
ROOT = Path(__file__).resolve().parents[3]
PATHS = os.pathsep.join(str(ROOT / name) for name in ("python", "parity/rlparity/templates"))


def call(program: str, *words: str, folder: Path | None = None) -> tuple[list[str], int]:
    """Return what a program prints, and its exit code."""
    command = [sys.executable, "-c", program, *words]
    variables = {**os.environ, "PYTHONPATH": PATHS}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout.splitlines() or done.stderr.splitlines(), done.returncode


@pytest.mark.parametrize(
    ("of_terminal", "numbers", "said", "code"),
    [
        ("SIG_DFL", [signal.SIGINT] * 2, ["announced", "True"], -signal.SIGINT),
        ("SIG_DFL", [signal.SIGTERM] * 2, ["announced", "True"], -signal.SIGTERM),
        ("SIG_DFL", CLOSED, ["announced", "True", "True"], -signal.SIGTERM),
        ("SIG_IGN", CLOSED, ["False", "False", "announced", "True"], 0),  # as under nohup
    ],
)
def test_the_first_asks_and_the_second_ends_but_a_terminal_that_closes_asks_once(
    of_terminal: str, numbers: list[signal.Signals], said: list[str], code: int
) -> None:
    assert call(SIGNALS, of_terminal, *(str(number.value) for number in numbers)) == (said, code)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_where_nothing_is_to_be_saved_the_first_ends_in_the_midst_of_a_native_call(number: signal.Signals) -> None:
    program = NATIVE.format(number=number.value) + WAITING
    assert call(program) == (["gave up"], INTERRUPTED_EXIT_CODE)


def test_once_there_is_something_to_save_the_first_asks() -> None:
    wakeup = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(wakeup)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with StopRequest(give_up=lambda: pytest.fail("it gave up")) as stop:
        stop.begun()
        stop.begun()
        signal.raise_signal(signal.SIGTERM)
        assert stop.requested
    assert signal.set_wakeup_fd(wakeup) == wakeup, "it is not as before"
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


@pytest.mark.parametrize(
    ("module", "name", "command"),
    [
        ("rlworldkit.ppo.training", "compile_training", "train"),
        pytest.param("rlworldkit.sb3.training", "WorldVecEnv", "train-sb3", marks=pytest.mark.long),
    ],
)
def test_a_trainer_that_still_compiles_ends_at_once(module: str, name: str, command: str, tmp_path: Path) -> None:
    program = (NATIVE + TRAINING).format(number=signal.SIGTERM.value, module=module, name=name, command=command)
    said, code = call(program, folder=tmp_path)
    assert (said[-1], code) == (
        "Stopped before the first update was complete; there is nothing to keep.",
        INTERRUPTED_EXIT_CODE,
    )


def test_a_run_ends_with_everything_saved_when_its_reader_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    with contextlib.suppress(BrokenPipeError), os.fdopen(writer, "w") as pipe, (tmp_path / "stdout").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)  # which rich sends elsewhere when its reader has gone
        with Run(tmp_path, console=Console(file=pipe)) as run:
            run.begin({}, 1_000_000)
            for update in (1, 2):
                assert not run.stop.requested
                run.write({"update": update, "timesteps": update, "seconds": 1.0})
                if update == 1:
                    assert os.read(reader, 100).startswith(b"1 of 1,000,000 steps")
                    os.close(reader)
            assert run.stop.requested
    assert len((tmp_path / "metrics.csv").read_text().splitlines()) == 3
    assert (tmp_path / "learning_curve.png").stat().st_size > 0

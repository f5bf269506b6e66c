"""The engine's process and the frames that go through its pipes (docs/reference/protocol.md)."""

import contextlib
import os
import select
import signal
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NoReturn

import numpy as np
from numpy.typing import NDArray

from hackmatrix.swift_env.memory import nameless_file
from rlparity.engines.python_process import end_process, enlarge_pipe, execution_fault
from rlparity.errors import EngineError, EngineMissing
from rlparity.io.console import typed_program

BINARY_VARIABLE = "HACKMATRIX_BINARY"
DEADLINE = 10.0
"""Seconds that the engine may take for an answer, unless the caller says otherwise."""
_ROOT = Path(__file__).resolve().parents[3]
_BUNDLED = Path(__file__).with_name("bin") / "HackMatrix"
"""Path of the engine in wheels that include it; hatch_build.py puts it there."""
_LENGTH = struct.Struct("<I")
_SHORTEST, _LONGEST = 4, 1 << 30
_LOG_LINES, _LOG_CHARACTERS = 5, 2000
SPINS = 40
"""Polls for an answer before waiting for it: waking a process may take longer than a step."""
_MOST_CREDITS, _MISS_COST, _PROBE_EVERY = 8, 4, 64
"""A failed spin costs four credits; without credits one answer in 64 is spun for."""
_READ_BYTES = 1 << 12
_CLOSING_SECONDS = 5.0


def is_checkout() -> bool:
    """Tell if this package is in a checkout, which builds its engine and has no bundled one."""
    return (_ROOT / "swift-build").is_file()


def is_engine_expected() -> bool:
    """Tell if there should be an engine: everywhere except in an installed wheel without one."""
    return bool(os.environ.get(BINARY_VARIABLE)) or is_checkout() or _BUNDLED.is_file()


def build_hint() -> str:
    """How to get a working engine: the build command in a checkout, else another installation."""
    if is_checkout():
        return f"build it with {typed_program(_ROOT / 'swift-build')}"
    return "install the wheel of hackmatrix for this platform, which has it"


class SwiftEngineError(EngineError):
    """The Swift engine cannot be started, died, hung, or answered against the protocol."""


class SwiftEngineMissing(SwiftEngineError, EngineMissing):
    """The Swift engine is not built, or the installed wheel lacks it."""


def binary_path() -> Path:
    """Path of the engine: HACKMATRIX_BINARY, else the release build of this checkout, else the wheel's program.

    Raises SwiftEngineMissing where there is none, SwiftEngineError where the variable's file is not a program.
    """
    named = os.environ.get(BINARY_VARIABLE)
    folder = ".build-macos" if sys.platform == "darwin" else ".build-linux"
    path = Path(named) if named else _ROOT / folder / "release" / "HackMatrix" if is_checkout() else _BUNDLED
    if fault := execution_fault(path):
        raise SwiftEngineError(f"the Swift engine cannot be run: {fault} ({BINARY_VARIABLE} may name another file).")
    if os.path.isfile(path):
        return path
    if named:
        right = f"{build_hint()} and give the path it prints" if is_checkout() else "give another path, or unset it"
        raise SwiftEngineError(f"{BINARY_VARIABLE} names {path}, which is no program: {right}.")
    raise SwiftEngineMissing(
        f"the Swift engine is not {'built' if is_checkout() else 'installed'} (there is no {path}): {build_hint()}",
        "choose another (`--engine jax`; of `rlparity run`, `--engines jax@cpu,jax`)",
    )


class SwiftProcess:
    """A running engine that answers frames; ``close``, or the deletion of this object, ends the process.

    A process that died, did not answer within ``deadline`` seconds, violated the protocol or was left in the
    middle of a frame (Ctrl+C) is ended, and every later call raises. ``descriptors``: open in the process too.
    ``spins``: polls for an answer before waiting for it.

    Raises SwiftEngineError when the binary is missing or cannot run.
    """

    def __init__(self, deadline: float = DEADLINE, descriptors: Sequence[int] = (), spins: int = SPINS) -> None:
        path = binary_path()
        self._spins = spins
        self._deadline = deadline
        self._closed_because = "is closed"
        try:
            self._log = nameless_file("hackmatrix-log")
        except OSError:  # a full disk must not prevent playing
            self._log = os.fdopen(os.open(os.devnull, os.O_RDWR), "r+b", buffering=0)
        try:
            self._process = subprocess.Popen(
                [path, "--binary"],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                pass_fds=descriptors,
                process_group=0,  # the client handles Ctrl+C in a terminal: it may want to save first
            )
        except OSError as error:
            self._log.close()
            raise SwiftEngineError(f"{path} cannot be run ({error.strerror}): {build_hint()}.") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: IO[bytes] = self._process.stdin
        self._output: IO[bytes] = self._process.stdout
        self._credits = _MOST_CREDITS
        """Above 0 while polling mostly succeeds; at 0 polling is tried only now and then."""
        self._waits = 0
        self._ahead = b""
        """Bytes read beyond the last frame."""
        os.set_blocking(self._input.fileno(), False)
        enlarge_pipe(self._output)
        self._writable, self._readable = select.poll(), select.poll()
        self._writable.register(self._input, select.POLLOUT)
        self._readable.register(self._output, select.POLLIN)
        self.unread = 0
        """Number of frames sent whose answers were not received yet."""
        # runs without a call of close, too: no process outlives its owner or stays as a zombie
        self._end = weakref.finalize(self, end_process, self._process, self._log, _CLOSING_SECONDS)
        _OPEN.add(self)

    def send(self, frame: bytes) -> None:
        """Send one frame. Raises SwiftEngineError when the engine is gone or hangs."""
        self._check_open()
        rest = memoryview(_LENGTH.pack(len(frame)) + frame)
        limit = time.monotonic() + self._deadline
        try:
            while rest:
                try:
                    rest = rest[os.write(self._input.fileno(), rest) :]
                except BlockingIOError:  # the pipe is full
                    self._wait_for(self._writable, limit)
            self.unread += 1
        except BaseException as error:
            self._fail(error)

    def receive(self, buffer: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The body of the next frame, in ``buffer`` if that is large enough, else in a new array.

        Raises SwiftEngineError when the engine is gone, hangs or answers with something other than a frame.
        """
        self._check_open()
        limit = time.monotonic() + self._deadline
        try:
            while len(self._ahead) < _LENGTH.size:
                self._wait_for(self._readable, limit)
                some = os.read(self._output.fileno(), _READ_BYTES)
                if not some:
                    raise BrokenPipeError
                self._ahead += some
            (length,) = _LENGTH.unpack_from(self._ahead)
            if not _SHORTEST <= length <= _LONGEST:
                raise self.fault(f"answered with a frame of {length} bytes, which is none of the protocol's")
            if buffer is None or len(buffer) < length:
                buffer = np.empty(length, np.uint8)
            body = buffer if len(buffer) == length else buffer[:length]
            here = self._ahead[_LENGTH.size : _LENGTH.size + length]
            body.data[: len(here)] = here
            self._ahead = self._ahead[_LENGTH.size + length :]
            rest = body.data[len(here) :]
            while rest:
                self._wait_for(self._readable, limit)
                count = os.readv(self._output.fileno(), [rest])
                if not count:
                    raise BrokenPipeError
                rest = rest[count:]
            self.unread -= 1
        except BaseException as error:
            self._fail(error)
        return body

    def fault(self, what: str) -> SwiftEngineError:
        """End the process after a fault, and return the error to raise, with the last lines of its log."""
        self._closed_because = what
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _LOG_CHARACTERS))
        lines = self._log.read().decode(errors="replace").strip().splitlines()[-_LOG_LINES:]
        last = f"; it said: {' / '.join(lines)}" if lines else ""
        self._process.kill()
        self.close()
        return SwiftEngineError(
            f"the Swift engine {what}{last}; open a new one, and if it happens again {build_hint()}."
        )

    def close(self) -> None:
        """End the process and wait for it; closing twice is fine."""
        self._end()

    def abandon(self) -> None:
        """Release the process in a forked child, since it belongs to the parent."""
        self._closed_because = f"belongs to the process {os.getppid()}, of which this one ({os.getpid()}) is a fork"
        self._end.detach()
        self._input.close()
        self._output.close()

    def _check_open(self) -> None:
        if not self._end.alive:
            raise SwiftEngineError(f"the Swift engine {self._closed_because}: open a new one.")

    def _wait_for(self, pipe: select.poll, limit: float) -> None:
        if pipe.poll(0):  # data that was there already does not count as a success of polling
            return
        self._waits += 1
        if self._credits or self._waits % _PROBE_EVERY == 0:
            for _ in range(self._spins):
                if pipe.poll(0):
                    self._credits = min(self._credits + 1, _MOST_CREDITS)
                    return
            self._credits = max(self._credits - _MISS_COST, 0)
        if not pipe.poll(max(0.0, limit - time.monotonic()) * 1000):
            raise self.fault(f"did not answer within {self._deadline:g} s and was ended")

    def _fail(self, error: BaseException) -> NoReturn:
        """End the process after an error within a frame, since later frames would be misread, and raise an error."""
        if isinstance(error, OSError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_CLOSING_SECONDS)
            raise self.fault(_how_it_ended(self._process.returncode)) from error
        if not isinstance(error, SwiftEngineError):
            self.fault("was left in the middle of an answer and was ended")
        raise error


_OPEN: "weakref.WeakSet[SwiftProcess]" = weakref.WeakSet()


def _abandon_all() -> None:
    """Close the parent's pipes in a forked child: otherwise its engines would never see the end of their input."""
    for process in list(_OPEN):
        process.abandon()
    _OPEN.clear()


os.register_at_fork(after_in_child=_abandon_all)


def _how_it_ended(status: int | None) -> str:
    if status is None:
        return "closed its pipe"
    if status < 0:
        return f"was killed by signal {-status} ({signal.Signals(-status).name})"
    return f"ended with status {status}"

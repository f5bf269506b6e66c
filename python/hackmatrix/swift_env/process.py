"""The engine's process and the frames that go through its pipes (docs/protocol.md)."""

import contextlib
import os
import struct
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from hackmatrix.errors import HackMatrixError

BINARY_VARIABLE = "HACKMATRIX_BINARY"
BUILD = "build it with ./swift-build"
_ROOT = Path(__file__).resolve().parents[3]
_LENGTH = struct.Struct("<I")
_LOG_LINES = 5
_CLOSING_SECONDS = 5.0
_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031
"""Linux's F_SETPIPE_SZ: with the 64 KiB of a new pipe, a frame would take many turns of both processes."""


class SwiftEngineError(HackMatrixError):
    """The Swift engine cannot be started, died, or answered against the protocol."""


def binary_path() -> Path:
    """The binary that HACKMATRIX_BINARY names, else the release build of this checkout.

    Raises SwiftEngineError where there is no such program.
    """
    named = os.environ.get(BINARY_VARIABLE)
    folder = ".build-macos" if sys.platform == "darwin" else ".build-linux"
    path = Path(named) if named else _ROOT / folder / "release" / "HackMatrix"
    if path.is_file() and os.access(path, os.X_OK):
        return path
    if named:
        raise SwiftEngineError(
            f"{BINARY_VARIABLE} names {path}, which is no program: {BUILD} and give the path it prints."
        )
    raise SwiftEngineError(f"the Swift engine is not built (there is no {path}): {BUILD}.")


class SwiftProcess:
    """One running engine. Frames go in and come out; ``close``, or the end of this object, ends the process.

    Raises SwiftEngineError when the binary is missing or cannot run.
    """

    def __init__(self, arguments: Sequence[str] = ("--binary",)) -> None:
        path = binary_path()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        try:
            self._process = subprocess.Popen(
                [path, *arguments], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
            )
        except OSError as error:
            raise SwiftEngineError(f"{path} cannot be run ({error.strerror}): {BUILD}.") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: IO[bytes] = self._process.stdin
        self._output: IO[bytes] = self._process.stdout
        _widen(self._output)
        # also when nobody calls close: no process outlives its owner, and none stays as a zombie
        self._end = weakref.finalize(self, _end_process, self._process, self._log)

    def send(self, frame: bytes) -> None:
        """Send one frame. Raises SwiftEngineError when the engine is gone."""
        rest = memoryview(_LENGTH.pack(len(frame)) + frame)
        try:
            while rest:
                rest = rest[self._input.write(rest) :]
        except (OSError, ValueError) as error:
            raise self._gone() from error

    def receive(self, buffer: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The body of the next frame, in ``buffer`` if that is large enough, else in a new array.

        Raises SwiftEngineError when the engine is gone.
        """
        head = np.empty(_LENGTH.size, np.uint8)
        self._fill(head)
        (length,) = _LENGTH.unpack(head.tobytes())
        body = np.empty(length, np.uint8) if buffer is None or len(buffer) < length else buffer[:length]
        self._fill(body)
        return body

    def close(self) -> None:
        """End the process and wait for it; done a second time, nothing."""
        self._end()

    def _fill(self, array: NDArray[np.uint8]) -> None:
        rest = array.data
        try:
            while rest:
                count = self._output.readinto(rest)  # type: ignore[attr-defined]
                if not count:
                    raise self._gone()
                rest = rest[count:]
        except (OSError, ValueError) as error:
            raise self._gone() from error

    def _gone(self) -> SwiftEngineError:
        if not self._end.alive:
            return SwiftEngineError("the Swift engine is closed: open a new one.")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSING_SECONDS)
        status = self._process.returncode
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()[-_LOG_LINES:]
        said = f"; it said: {' / '.join(lines)}" if lines else ""
        ended = "closed its pipe" if status is None else f"ended with status {status}"
        return SwiftEngineError(f"the Swift engine {ended}{said}; open a new one, and if it happens again {BUILD}.")


def _widen(pipe: IO[bytes]) -> None:
    """Make a pipe hold a whole frame, where the system can."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe.fileno(), _SET_PIPE_SIZE, _PIPE_BYTES)


def _end_process(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with contextlib.suppress(OSError):
            pipe.close()
    try:
        process.wait(_CLOSING_SECONDS)  # it ends by itself when its input closes
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    log.close()

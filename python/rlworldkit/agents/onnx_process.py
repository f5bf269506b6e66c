"""onnxruntime in a process with limited memory and time, because an ONNX file can ask for any amount of both."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlparity.engines.channel import Channel
from rlparity.engines.python_process import end_process, enlarge_pipe, python_command
from rlparity.io.safe_read import MIB, Unreadable

SECONDS = 60.0
"""Time limit to load a file, or to compute one batch."""
MEMORY = 4096 * MIB
"""Memory limit of the process in bytes, plus four times the file. macOS does not enforce it."""
_CLOSING_SECONDS = 5.0


class OnnxProcess:
    """A process that runs onnxruntime with one file's graph, and ends with this object. Threads may share it."""

    def __init__(self, content: bytes) -> None:
        """Start the process. Raises Unreadable, with half a sentence, if the file cannot be loaded."""
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        command = python_command("-m", __name__, str(MEMORY + 4 * len(content)))
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            process_group=0,  # Ctrl+C in a terminal reaches only this process
        )
        assert process.stdin is not None
        assert process.stdout is not None
        for pipe in (process.stdin, process.stdout):
            enlarge_pipe(pipe)
        weakref.finalize(self, end_process, process, log, _CLOSING_SECONDS)
        self._process, self._lock = process, threading.Lock()
        self._channel = Channel(process.stdout, process.stdin)
        self.ports = self._ask(content=np.frombuffer(content, np.uint8))
        """Name, type and shape of all ``inputs`` and ``outputs`` of the graph."""

    def run(self, outputs: Sequence[str], inputs: dict[str, Any]) -> list[Any]:
        """Compute the arrays of these outputs; raises Unreadable if that fails."""
        arrays: list[Any] = self._ask(outputs=outputs, inputs=inputs)["arrays"]
        return arrays

    def _ask(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - of JSON, and arrays
        with self._lock:
            late = threading.Timer(SECONDS, self._process.kill)
            late.start()
            try:
                self._channel.send(request)
                answer = self._channel.receive()
            except (EOFError, OSError, LookupError, TypeError, ValueError):
                raise Unreadable(f"onnxruntime needs more than {SECONDS:g} s or {MEMORY // MIB:,} MiB for it") from None
            finally:
                late.cancel()
        if "fault" in answer:
            raise Unreadable(answer["fault"])
        return answer


def main() -> None:
    """Serve one ``OnnxProcess`` until its end."""
    import onnxruntime

    resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)
    channel = Channel(sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keep what onnxruntime prints out of the channel
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised
    session: Any = None
    while True:
        try:
            request = channel.receive()
        except EOFError:
            return
        answer: dict[str, Any]
        try:
            if session is None:
                # without fallback: trying again would fail again
                how: dict[str, Any] = {"providers": ["CPUExecutionProvider"], "enable_fallback": 0}
                session = onnxruntime.InferenceSession(request["content"].tobytes(), options, **how)
                ports = {"inputs": session.get_inputs(), "outputs": session.get_outputs()}
                answer = {end: [(port.name, port.type, port.shape) for port in each] for end, each in ports.items()}
            else:
                answer = {"arrays": session.run(request["outputs"], request["inputs"])}
        except Exception as error:  # onnxruntime's errors have no base of their own
            answer = {"fault": f"onnxruntime cannot use it ({type(error).__name__})"}
        channel.send(answer)


if __name__ == "__main__":
    main()

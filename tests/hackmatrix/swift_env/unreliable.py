#!/usr/bin/env python3
"""The engine behind somebody who fails in the third step: hangs, dies, talks nonsense or stops half-way.

With "no memory" nothing fails, but the engine inherits none of the descriptors that it is told of.

UNRELIABLE_ENGINE names the real binary, UNRELIABLE_HOW the failure, UNRELIABLE_ONCE a file that, once made, says that
it has failed already.
"""

import os
import pathlib
import struct
import subprocess
import sys
import time

STEP, PLACE, FAILING_STEP = 2, 14, 3
once = pathlib.Path(os.environ["UNRELIABLE_ONCE"])
engine = subprocess.Popen(
    [os.environ["UNRELIABLE_ENGINE"], *sys.argv[1:]],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    close_fds=os.environ["UNRELIABLE_HOW"] == "no memory",
)
assert engine.stdin is not None
assert engine.stdout is not None


def frame(source) -> bytes:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a pipe
    head = source.read(4)
    return head + source.read(struct.unpack("<I", head)[0]) if len(head) == 4 else b""


def command(request: bytes) -> int:
    """The command of a frame, also where its rows are to be placed in the shared memory."""
    number, _, placed = struct.unpack("<3I", request[4:16].ljust(12, b"\0"))
    return placed if number == PLACE else number


def fail(answer: bytes) -> None:
    once.touch()
    print("something broke", file=sys.stderr, flush=True)
    match os.environ["UNRELIABLE_HOW"]:
        case "hang":
            time.sleep(60)
        case "die":
            os._exit(7)
        case "garbage":
            os.write(1, b"Hello, world! This is no frame.\n")
            time.sleep(60)
        case "wrong rows":
            os.write(1, struct.pack("<6I", 20, 0, 3, 1, 0, 0))
            time.sleep(60)
        case "half":
            os.write(1, answer[: len(answer) // 2])
            os._exit(7)


steps = 0
while request := frame(sys.stdin.buffer):
    engine.stdin.write(request)
    engine.stdin.flush()
    answer = frame(engine.stdout)
    steps += command(request) == STEP
    if steps == FAILING_STEP and not once.exists():
        fail(answer)
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()

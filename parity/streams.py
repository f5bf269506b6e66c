"""Standard input, output and error of a command, which its caller may have closed."""

import errno
import os
import sys

_MODES = {"stdin": "r", "stdout": "w", "stderr": "w"}


def open_missing_streams() -> None:
    """Open the null device for each standard stream that was closed when the process began.

    Python has None in the place of such a stream, and the next file that is opened gets its number, into which
    libraries then print.
    """
    for name, mode in _MODES.items():
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - it lives as long as the process
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def is_output_closed() -> bool:
    """Whether standard output was closed when the process began."""
    return sys.__stdout__ is None


def is_output_full(error: OSError) -> bool:
    """Whether printing failed because standard output is a file on a full disk."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None


def discard_output() -> None:
    """Send what is still to be printed nowhere, because it cannot be written: Python would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""Errors with one sentence for the user and an exit code.

The harness, rlworldkit and the worlds share one hierarchy: ``ParityError`` is the base class of every error that a
person can cause and fix.
"""

import difflib
import os
import shlex
import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from unicodedata import category

QUOTED_LENGTH = 60
"""Maximum characters of a file's content that a message quotes."""
_ACTING = ("Cc", "Cf", "Zl", "Zp")
"""Unicode categories of control and format characters (such as those that change direction) and line separators."""
INTERRUPTED_EXIT_CODE = 130
"""Exit code of a command that a signal ended before it had results, as a shell reports SIGINT."""


def quoted(value: object) -> str:
    """Quote a value from a file for a message: on one line, in ASCII and not too long."""
    if isinstance(value, str):
        value = value[:QUOTED_LENGTH] + "..." * (len(value) > QUOTED_LENGTH)
    elif not isinstance(value, (float, bool, type(None))) and not (isinstance(value, int) and abs(value) < 2**64):
        return f"a value of type {type(value).__name__}"
    return ascii(value)


def printable(text: str) -> str:
    """Make any text safe to print within a line: characters that break lines or act on a terminal become escapes.

    Undecodable bytes of a file's name stay, for the stream to print.
    """
    if text.isprintable():
        return text
    return "".join(sign.encode("unicode_escape").decode() if category(sign) in _ACTING else sign for sign in text)


def install_command(*words: str) -> str:
    """Shell command that installs missing packages into this environment with pip, from any directory.

    For an extra of a package that is installed here, even from a checkout, pip asks no index for the package itself.
    """
    return shlex.join([sys.executable, "-m", "pip", "install", *words])


def unknown(name: str, known: Collection[str]) -> str:
    """Quote an unknown name, with the known name that it resembles, if any."""
    close = difflib.get_close_matches(name, known, 1)
    return quoted(name) + "".join(f" (did you mean {quoted(each)}?)" for each in close)


class ParityError(Exception):
    """Base class of all errors; the message is one sentence that says what is wrong and what to do."""

    exit_code = 3

    def __str__(self) -> str:
        """Message in one printable line, whatever names and answers it quotes."""
        return printable(super().__str__())


class UsageError(ParityError):
    """Error of a request for something that does not exist or cannot be read."""

    exit_code = 2


def require_working_directory() -> None:
    """Raise UsageError where the working directory is gone: relative paths need it, and libraries exit without it."""
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(f"the working directory is gone ({error.strerror}): go to one that exists.") from None


class EngineError(ParityError):
    """Error of an engine that died, hung, raised or answered in a form that its world does not promise."""


class EngineMissing(EngineError):
    """Error of an engine that is not built or installed here; ``advice`` says which one, and what to do about it."""

    def __init__(self, advice: str, other: str) -> None:
        super().__init__(f"{advice}, or {other}.")
        self.advice = advice


class StateRefused(ParityError, ValueError):
    """Error of an engine that refuses a state in ``set_state``; its games are as they were before."""


FOREIGN_FAULTS = Exception, SystemExit
"""Exceptions of other people's code to catch: its ``sys.exit`` would otherwise choose the command's exit code."""


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """Turn an exception of a world's own code into a UsageError of one sentence that names ``what`` raised it."""
    try:
        yield
    except ParityError:
        raise
    except FOREIGN_FAULTS as error:
        fault = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise UsageError(f"{what} fails with {fault} (--traceback shows where): correct it.") from error


def report_bug(program: str) -> int:
    """Print the traceback of the current exception, which no command should raise; returns the exit code."""
    traceback.print_exc()
    print(f"{program}: this is a bug of the program: report it with the traceback above.", file=sys.stderr)
    return ParityError.exit_code


_OUT_OF_MEMORY = ("resource_exhausted", "out of memory", "can't allocate memory", "cannot allocate memory")
"""Lower-case words of out-of-memory errors of XLA, CUDA, torch and the system, whose types differ by version."""


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error reports too little memory, on any device."""
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in _OUT_OF_MEMORY)

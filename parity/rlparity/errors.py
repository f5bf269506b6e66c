"""Errors with one sentence for the user and an exit code.

One family for the harness, rlworldkit and the worlds: whoever catches ``ParityError`` has caught everything that a
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
"""Characters of a file's content that a message quotes at most."""
_ACTING = ("Cc", "Cf", "Zl", "Zp")
"""Categories of Unicode: control and format characters (such as those that turn the direction), separators of lines."""
INTERRUPTED_EXIT_CODE = 130
"""Of a command that a signal ended before there were results: what a shell gives for SIGINT."""


def quoted(value: object) -> str:
    """A value from a file as a message quotes it: on one line, in ASCII and not too long."""
    if isinstance(value, str):
        value = value[:QUOTED_LENGTH] + "..." * (len(value) > QUOTED_LENGTH)
    elif not isinstance(value, (float, bool, type(None))) and not (isinstance(value, int) and abs(value) < 2**64):
        return f"a value of type {type(value).__name__}"
    return ascii(value)


def printable(text: str) -> str:
    """A text from anywhere as it is printed within a line: what would break it or act on a terminal becomes its code.

    Bytes of a file's name that stand for no sign stay, for the stream to print.
    """
    if text.isprintable():
        return text
    return "".join(sign.encode("unicode_escape").decode() if category(sign) in _ACTING else sign for sign in text)


def install_command(*words: str) -> str:
    """The command with which pip installs into this environment what a sentence says is missing, from any directory.

    For an extra of a package that is installed here, from a checkout too, pip asks no index for the package itself.
    """
    return shlex.join([sys.executable, "-m", "pip", "install", *words])


def unknown(name: str, known: Collection[str]) -> str:
    """A name that is none of the known ones, quoted, with the one that it resembles, if any."""
    close = difflib.get_close_matches(name, known, 1)
    return quoted(name) + "".join(f" (did you mean {quoted(each)}?)" for each in close)


class ParityError(Exception):
    """Base of all; the message is one sentence that says what is wrong and what to do."""

    exit_code = 3

    def __str__(self) -> str:
        """The sentence, in one line whatever names and answers it quotes."""
        return printable(super().__str__())


class UsageError(ParityError):
    """The person asked for something that does not exist or cannot be read."""

    exit_code = 2


def require_working_directory() -> None:
    """Raise UsageError where the working directory is gone: paths begin there, and libraries end the process."""
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(f"the working directory is gone ({error.strerror}): go to one that exists.") from None


class EngineError(ParityError):
    """An engine died, hung, raised or answered in a form its world does not promise."""


class EngineMissing(EngineError):
    """An engine is not built or installed here; ``advice`` says which, and what to do about it."""

    def __init__(self, advice: str, other: str) -> None:
        super().__init__(f"{advice}, or {other}.")
        self.advice = advice


class StateRefused(ParityError, ValueError):
    """An engine will not take a state in ``set_state``; its games are as they were before."""


FOREIGN_FAULTS = Exception, SystemExit
"""What code of others may raise: its ``sys.exit`` would otherwise choose the exit code of the command."""


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
    """Print the traceback of the exception at hand, which no command should raise; returns the exit code."""
    traceback.print_exc()
    print(f"{program}: this is a bug of the program: report it with the traceback above.", file=sys.stderr)
    return ParityError.exit_code


_OUT_OF_MEMORY = ("resource_exhausted", "out of memory", "can't allocate memory", "cannot allocate memory")
"""Words of XLA, CUDA, torch and the system, in small letters; their types differ from version to version."""


def is_out_of_memory(error: BaseException) -> bool:
    """Recognise an error that says that there is too little memory, on whichever device."""
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in _OUT_OF_MEMORY)

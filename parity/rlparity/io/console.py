"""Consoles and standard streams of commands, and shared formatting: counts, and command lines to type next."""

from __future__ import annotations

import codecs
import errno
import io
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rlparity.io.documents import document_value
from rlparity.io.strict_json import json_text

if TYPE_CHECKING:
    from rich.console import Console

UNLIMITED = 100_000
"""Number of columns that no line reaches."""
CLOSED_PIPE_EXIT_CODE = 141
"""Exit code of a command whose output was closed before its end, as a shell reports SIGPIPE."""

_MODES = {"stdin": "r", "stdout": "w", "stderr": "w"}
_REPLACING = "rlparity.replacing"
_PLAIN_SIGNS = str.maketrans("…–−×·│─┌┬┐├┼┤└┴┘▸●◆♥♡←↑→↓█▉▊▋▌▍▎▏▁▂▃▄▅▆▇", "~--x.|-+++++++++>ox*-<^>v" + 15 * "#")
"""ASCII substitutes, one character for one, so that columns stay aligned."""


def open_console(*, stderr: bool = False, quiet: bool = False, width: int | None = None) -> Console:
    """A console for plain text and tables, on standard output or standard error.

    Text is printed literally: without markup, names of emoji or control sequences. In a terminal, lines wrap at its
    width. In a file or a pipe they do not wrap, because rich's guess of 80 columns helps neither a program nor a person
    with ``grep``.

    Args:
        stderr: print to standard error.
        quiet: print nothing at all.
        width: maximum columns of a page with a fixed layout, in a file too; None: no such limit.
    """
    from rlparity.io.table import PlainConsole  # rich imports slowly, and usage errors need not wait for it

    accept_every_sign()
    console = PlainConsole(stderr=stderr, quiet=quiet)
    if width or not console.is_terminal:  # a width that is set stays when the terminal is resized
        console.width = min(console.width if console.is_terminal else UNLIMITED, width or UNLIMITED)
    return console


@dataclass(frozen=True)
class Answer:
    """Answer of a command: its document (a dataclass), a function that shows it to people, and the exit code.

    then: computes the command's next answer, once this one is printed; None: there is none.
    """

    document: object
    show: Callable[[Console], None]
    exit_code: int = 0
    then: Callable[[], Answer | None] = lambda: None

    def text(self) -> str:
        """The document as JSON."""
        return json_text(document_value(self.document), indent=2)

    def print(self, *, as_json: bool) -> None:
        """Print the document, or show the answer to people."""
        if as_json:
            print(self.text())
        else:
            self.show(open_console())


def plain_text(show: Callable[[Console], None]) -> str:
    """Render what ``show`` prints as text of at most 100 columns."""
    from rlparity.io.table import PlainConsole

    text = io.StringIO()
    show(PlainConsole(file=text, width=100))
    return text.getvalue()


def accept_every_sign() -> None:
    """Let standard output and error print characters that their encoding lacks as similar ones or as escapes.

    Undecodable bytes of a file's name are printed unchanged.
    """
    codecs.register_error(_REPLACING, _replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.closed:
            stream.reconfigure(errors=_REPLACING)


def encodable(text: str) -> str:
    """Make a text encodable as UTF-8: undecodable bytes of a file's name become escapes."""
    return text.encode(errors="backslashreplace").decode()


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    """Substitute for the first character that cannot be encoded, and the index at which encoding continues."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    sign = error.object[error.start]
    if "\udc80" <= sign <= "\udcff":
        return os.fsencode(sign), error.start + 1
    plain = sign.translate(_PLAIN_SIGNS)
    return plain.encode("ascii", "backslashreplace").decode("ascii"), error.start + 1


def counted(number: int, thing: str, ending: str = "s") -> str:
    """Format a count, such as ``1 step`` or ``1,000 steps``; ``ending``: of the plural."""
    return f"{number:,} {thing}{'' if number == 1 else ending}"


def typed_command(program: str, module: str, *words: str | Path) -> str:
    """Shell command that runs ``program`` with these words, or ``python -m module`` where it is not installed."""
    return shlex.join(command_words(program, module, *words))


def command_words(program: str, module: str, *words: str | Path) -> list[str]:
    """Words of ``typed_command`` before shell quoting."""
    python = Path(sys.executable)
    script = python.with_name(program)
    start = [_program(script)] if script.exists() else [_program(python), "-m", module]
    # ./ before the name of a file that looks like a flag
    named = (os.path.join(".", word) if isinstance(word, Path) and str(word)[0] == "-" else str(word) for word in words)
    return [*start, *named]


def typed_program(path: Path) -> str:
    """Shell word that runs a program: its name where the shell finds it by name, else its path."""
    return shlex.quote(_program(path))


def _program(path: Path) -> str:
    if shutil.which(path.name) == str(path):
        return path.name
    try:
        here = Path.cwd()
    except OSError:  # the working directory is gone
        return str(path)
    typed = str(path.relative_to(here) if path.is_relative_to(here) else path)
    return typed if os.sep in typed else os.path.join(".", typed)


def open_missing_streams() -> None:
    """Open the null device for each standard stream that was closed when the process began.

    Python sets such a stream to None, and the next file that is opened gets its file descriptor, into which libraries
    then print.
    """
    for name, mode in _MODES.items():
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - it lives as long as the process
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def is_output_closed() -> bool:
    """Tell if standard output was closed when the process began."""
    return sys.__stdout__ is None


def is_output_full(error: OSError) -> bool:
    """Tell if printing failed because standard output is a file on a full disk."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None


def discard_output() -> None:
    """Redirect unwritable standard output to the null device, so that Python does not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def output_aside() -> Iterator[None]:
    """Redirect output to standard error, also that of native libraries and of those that set ``sys.stdout``."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
        os.dup2(kept, 1)
        os.close(kept)

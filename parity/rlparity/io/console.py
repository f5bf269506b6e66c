"""Consoles and streams of commands, and what several of them print: counted things, and command lines to type next."""

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
"""Columns, which no line ever has."""
CLOSED_PIPE_EXIT_CODE = 141
"""Of a command whose output nobody reads to its end: what a shell gives for SIGPIPE."""

_MODES = {"stdin": "r", "stdout": "w", "stderr": "w"}
_REPLACING = "rlparity.replacing"
_PLAIN_SIGNS = str.maketrans("…–−×·│─┌┬┐├┼┤└┴┘▸●◆♥♡←↑→↓█▉▊▋▌▍▎▏▁▂▃▄▅▆▇", "~--x.|-+++++++++>ox*-<^>v" + 15 * "#")
"""One sign for one, so that columns stay where they are."""


def open_console(*, stderr: bool = False, quiet: bool = False, width: int | None = None) -> Console:
    """A console for plain text and tables, on standard output or standard error.

    Nothing in a text is markup, the name of an emoji or a control sequence. On a terminal lines wrap at its width. In
    a file or a pipe they are as long as they are, because whoever reads them there, a person with ``grep`` or a
    program, is not helped by rich's guess of 80 columns.

    Args:
        stderr: print to standard error.
        quiet: print nothing at all.
        width: the most columns of a page that is laid out for a fixed width, in a file too; None: no such limit.
    """
    from rlparity.io.table import PlainConsole  # rich takes a while to import, which mistakes need not wait for

    accept_every_sign()
    console = PlainConsole(stderr=stderr, quiet=quiet)
    if width or not console.is_terminal:  # a width that is set stays, however a terminal changes
        console.width = min(console.width if console.is_terminal else UNLIMITED, width or UNLIMITED)
    return console


@dataclass(frozen=True)
class Answer:
    """The answer of a command: its document, a dataclass, how it is shown to people, and the exit code.

    then: what the command answers next, once this is printed; None: nothing.
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
    """What ``show`` prints, as text of at most 100 columns."""
    from rlparity.io.table import PlainConsole

    text = io.StringIO()
    show(PlainConsole(file=text, width=100))
    return text.getvalue()


def accept_every_sign() -> None:
    """Let standard output and standard error print what their encoding lacks as something similar, or as its code.

    Bytes of a file's name that stand for no sign are printed as they are.
    """
    codecs.register_error(_REPLACING, _replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.closed:
            stream.reconfigure(errors=_REPLACING)


def encodable(text: str) -> str:
    """The text for whoever encodes it as UTF-8: bytes of a file's name that stand for no sign become their codes."""
    return text.encode(errors="backslashreplace").decode()


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    """A substitute for the first sign that cannot be encoded, and the place where encoding goes on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    sign = error.object[error.start]
    if "\udc80" <= sign <= "\udcff":
        return os.fsencode(sign), error.start + 1
    plain = sign.translate(_PLAIN_SIGNS)
    return plain.encode("ascii", "backslashreplace").decode("ascii"), error.start + 1


def counted(number: int, thing: str, ending: str = "s") -> str:
    """``1 step``, ``1,000 steps``; ``ending``: of the plural."""
    return f"{number:,} {thing}{'' if number == 1 else ending}"


def typed_command(program: str, module: str, *words: str | Path) -> str:
    """A command of ``program`` with these words as it can be typed here; where it is not installed, of ``module``."""
    return shlex.join(command_words(program, module, *words))


def command_words(program: str, module: str, *words: str | Path) -> list[str]:
    """The words of ``typed_command``."""
    python = Path(sys.executable)
    script = python.with_name(program)
    start = [_program(script)] if script.exists() else [_program(python), "-m", module]
    # a file whose name looks like a flag is named from its folder
    named = (os.path.join(".", word) if isinstance(word, Path) and str(word)[0] == "-" else str(word) for word in words)
    return [*start, *named]


def typed_program(path: Path) -> str:
    """A program as it can be typed here: by its name alone where the shell finds it by that, else by its path."""
    return shlex.quote(_program(path))


def _program(path: Path) -> str:
    if shutil.which(path.name) == str(path):
        return path.name
    try:
        here = Path.cwd()
    except OSError:  # it is gone
        return str(path)
    typed = str(path.relative_to(here) if path.is_relative_to(here) else path)
    return typed if os.sep in typed else os.path.join(".", typed)


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
    """Tell if standard output was closed when the process began."""
    return sys.__stdout__ is None


def is_output_full(error: OSError) -> bool:
    """Tell if printing failed because standard output is a file on a full disk."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None


def discard_output() -> None:
    """Send what is still to be printed nowhere, because it cannot be written: Python would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def output_aside() -> Iterator[None]:
    """Send what is printed to standard error, also by libraries that set ``sys.stdout`` or are not of Python."""
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

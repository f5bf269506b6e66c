"""Outputs of the commands: files or standard output, and the sentence that ends a command."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from parity.arguments import Parser
from parity.atomic_write import write_whole
from parity.console import is_output_closed
from parity.errors import ParityError

STANDARD_OUTPUT = "-"
USAGE_EXIT_CODE = 2
JSON_HELP = "write the figures as JSON; - is standard output"


def check_output(parser: Parser, target: str | None) -> None:
    """Exit with one sentence where ``target`` is what cannot be written to, before any work is done."""
    if target == STANDARD_OUTPUT and is_output_closed():
        parser.error("cannot write to standard output, which is closed: name a file")
    if target in (None, STANDARD_OUTPUT):
        return
    path = Path(target or "")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        parser.error(f"cannot write {target}: name a file in a folder that exists and can be written to")


def write_output(target: str, answer: str | bytes) -> None:
    """Write a text, or the bytes of a picture, to the file ``target``, or to standard output for ``-``.

    A file has either all of it or what it had before, where its folder lets it be replaced.
    """
    content = answer.encode() if isinstance(answer, str) else answer
    if target == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
        return
    path = Path(target)
    try:
        if can_be_rewritten(target) and os.access(path.parent, os.W_OK):
            write_whole(path, content)
        else:
            path.write_bytes(content)
    except OSError as error:
        fail(f"cannot write {target}: {error.strerror}.")


def can_be_rewritten(target: str) -> bool:
    """Return whether ``target`` is a file that a new one may replace, or none yet: no pipe, no device, no link to any.

    ``/dev/stdout`` is a link, to a file where a shell says ``> file``: put a file in its place, and it is gone.
    """
    path = Path(target)
    return target != STANDARD_OUTPUT and not path.is_symlink() and (path.is_file() or not path.exists())


def fail(error: ParityError | str) -> NoReturn:
    """Print one sentence on standard error and exit with code 2."""
    print(error, file=sys.stderr)
    raise SystemExit(USAGE_EXIT_CODE)

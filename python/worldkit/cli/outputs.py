"""Where a command writes its answer: a file, or standard output."""

import sys
from pathlib import Path

from parity.arguments import Parser
from worldkit.cli.parser import could_write, fail

STANDARD_OUTPUT = "-"
JSON_HELP = "write the figures as JSON; - is standard output"


def check_output(parser: Parser, target: str | None) -> None:
    """Exit with one sentence where ``target`` is a file that cannot be written, before any work is done."""
    if target not in (None, STANDARD_OUTPUT) and not could_write(Path(target or "")):
        parser.error(f"cannot write {target}: name a file in a folder that exists and can be written to")


def write_output(target: str, text: str) -> None:
    """Write ``text`` to the file ``target``, or to standard output for ``-``."""
    if target == STANDARD_OUTPUT:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"cannot write {target}: {error.strerror}.")

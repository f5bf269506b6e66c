"""Outputs of the commands: files or standard output, and exits with a one-sentence error."""

import sys
from pathlib import Path
from typing import NoReturn

from rlparity.errors import ParityError, UsageError, printable
from rlparity.io import atomic_write
from rlparity.io.arguments import STANDARD_OUTPUT, OutputFile

OUTPUT = OutputFile(has_streams=True)
JSON_HELP = "write the figures as JSON; - is standard output"


def write_output(target: Path, answer: str | bytes) -> None:
    """Write a text, or the bytes of a picture, to the file ``target``, or to standard output for ``-``."""
    if target != STANDARD_OUTPUT:
        atomic_write.write_output(target, answer)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(answer.encode() if isinstance(answer, str) else answer)
    sys.stdout.flush()


def fail(error: ParityError | str, code: int = UsageError.exit_code) -> NoReturn:
    """Print one sentence on standard error and exit with a code."""
    print(printable(str(error)), file=sys.stderr)
    raise SystemExit(code)

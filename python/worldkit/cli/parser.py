"""What the commands share: sentences that end them."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from parity.errors import ParityError

USAGE_EXIT_CODE = 2


def could_write(path: Path) -> bool:
    """Whether a file can be written to, or made."""
    return os.access(path if path.exists() else path.parent, os.W_OK) and not path.is_dir()


def fail(error: ParityError | str) -> NoReturn:
    """Print one sentence on standard error and exit with code 2."""
    print(error, file=sys.stderr)
    raise SystemExit(USAGE_EXIT_CODE)

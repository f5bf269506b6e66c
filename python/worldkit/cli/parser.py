"""What the commands share: sentences that end them, and commands to type next."""

import os
import shlex
import shutil
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


def typed_command(program: str, *words: str) -> str:
    """A command of ``program`` with these words as it can be typed here."""
    path, here = Path(sys.executable).with_name(program), Path.cwd()
    on_path = shutil.which(program) == str(path)
    typed = program if on_path else str(path.relative_to(here) if path.is_relative_to(here) else path)
    return shlex.join([typed, *words])

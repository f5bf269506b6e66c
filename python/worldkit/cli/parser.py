"""Argument parsing whose errors are one sentence on standard error and exit code 2."""

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import NoReturn

from parity.errors import ParityError

USAGE_EXIT_CODE = 2


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that states a usage error in one sentence, without the usage block."""

    def error(self, message: str) -> NoReturn:
        """State the fault in one sentence and exit with code 2."""
        fail(f"{self.prog}: {message} (see `{self.prog} --help`).")


def positive_int(text: str) -> int:
    """An integer of at least 1; commas and underscores may group its digits."""
    try:
        value = int(text.replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text}")
    return value


def seed(text: str) -> int:
    """A game's seed: 64 bits, unsigned."""
    if not (text.isascii() and text.isdigit() and int(text) < 2**64):
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number in 0 ... 2^64 - 1")
    return int(text)


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

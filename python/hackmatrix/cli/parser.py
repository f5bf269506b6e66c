"""Argument parsing whose errors are one sentence on standard error and exit code 2."""

import argparse
import sys
from typing import NoReturn

from hackmatrix.errors import HackMatrixError

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


def fail(error: HackMatrixError | str) -> NoReturn:
    """Print one sentence on standard error and exit with code 2."""
    print(error, file=sys.stderr)
    raise SystemExit(USAGE_EXIT_CODE)

"""Where commands print to."""

from rich.console import Console

UNLIMITED = 100_000
"""Columns, which no line ever has."""


def open_console(*, stderr: bool = False, quiet: bool = False, width: int | None = None) -> Console:
    """A console for plain text and tables, on standard output or standard error.

    On a terminal lines wrap at its width. In a file or a pipe they are as long as they are, because whoever reads them
    there, a person with ``grep`` or a program, is not helped by rich's guess of 80 columns.

    Args:
        stderr: print to standard error.
        quiet: print nothing at all.
        width: the most columns of a page that is laid out for a fixed width, in a file too; None: no such limit.
    """
    console = Console(stderr=stderr, quiet=quiet, highlight=False, markup=False)
    there = console.width if console.is_terminal else UNLIMITED
    console.width = min(there, width or UNLIMITED)
    return console

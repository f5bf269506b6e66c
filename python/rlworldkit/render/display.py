"""Detection of a display, without pygame."""

import os
import sys

from rich.console import Console

from parity.errors import UsageError


def has_display() -> bool:
    """Return whether there seems to be a display."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def require_room(console: Console, doing: str, *sizes: tuple[int, int]) -> None:
    """Raises UsageError where a terminal has room for none of these sizes, in columns and lines.

    doing: what the room is for, such as ``watching``.
    """
    width, height = console.size
    if any(width >= columns and height >= lines for columns, lines in sizes):
        return
    needed = " or ".join(f"{columns} columns and {lines} lines" for columns, lines in sizes)
    raise UsageError(
        f"The terminal has {width} columns and {height} lines and {doing} needs {needed}: "
        "enlarge it, or make its letters smaller."
    )

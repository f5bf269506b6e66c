"""Detection of a display, without pygame."""

import os
import sys

from rich.console import Console

from rlparity.errors import UsageError


def has_display() -> bool:
    """Return whether there seems to be a display."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def is_room(there: tuple[int, int], size: tuple[int, int]) -> bool:
    """Return whether ``size`` fits into ``there``, both in columns and lines."""
    return there[0] >= size[0] and there[1] >= size[1]


NO_DISPLAY = "There is no display to open a window on: run on a desktop, or draw text or pictures instead."


def require_display() -> None:
    """Raise UsageError if there is no display, unless SDL_VIDEODRIVER names a driver."""
    if not has_display() and "SDL_VIDEODRIVER" not in os.environ:
        raise UsageError(NO_DISPLAY)


def require_room(console: Console, doing: str, *sizes: tuple[int, int]) -> None:
    """Raise UsageError if a terminal has room for none of these sizes, in columns and lines, the smallest one last.

    doing: what the room is for, such as ``watching``.
    """
    (width, height), (columns, lines) = console.size, sizes[-1]
    if not any(is_room((width, height), size) for size in sizes):
        raise UsageError(
            f"The terminal has {width} columns and {height} lines and {doing} needs {columns} columns and {lines} "
            "lines: enlarge it, or make its letters smaller."
        )


def missing_room(there: tuple[int, int], least: tuple[int, int]) -> str:
    """Return the message of a screen that has become too small."""
    found = f"The terminal has {there[0]} columns and {there[1]} lines:"
    return f"{found} enlarge it to {least[0]} and {least[1]}, or leave with q."

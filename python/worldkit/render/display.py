"""Whether windows can be seen here, found out without pygame."""

import os
import sys


def has_display() -> bool:
    """Whether there seems to be a screen that a person looks at."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

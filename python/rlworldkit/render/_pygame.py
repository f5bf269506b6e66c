"""Import of pygame without its greeting; ParityError with the command that installs it if it is missing."""

import os

from rlparity.errors import ParityError

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

try:
    import pygame
except ImportError:
    raise ParityError("Pictures need pygame: run `pip install pygame`.") from None

__all__ = ["pygame"]

"""pygame without its greeting; where it is missing, one sentence says how to install it."""

import os

from rlparity.errors import ParityError

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

try:
    import pygame
except ImportError:
    raise ParityError("Pictures need pygame: run `pip install pygame`.") from None

__all__ = ["pygame"]

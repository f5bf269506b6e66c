"""pygame without its greeting; where it is missing, one sentence says how to install it."""

import os

from hackmatrix.errors import HackMatrixError

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

try:
    import pygame
except ImportError:
    raise HackMatrixError('Pictures need pygame: run `pip install "hackmatrix[sb3]"`.') from None

__all__ = ["pygame"]

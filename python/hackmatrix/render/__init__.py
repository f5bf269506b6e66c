"""One board as a person reads it: ``model`` says what is there, ``text`` and ``picture`` draw it.

``text`` needs nothing but the core; ``picture`` needs pygame (the extra ``sb3``).
"""

from hackmatrix.render.model import BoardModel, board_model
from hackmatrix.render.text import draw_text

__all__ = ["BoardModel", "board_model", "draw_text"]

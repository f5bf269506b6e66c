"""The board in little room: the words of the large one, in 13 lines of 56 columns."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hackmatrix.exploration.starts import STARTS
from hackmatrix.render.model import Cell, board_model
from hackmatrix.render.text import MORE, beings, compact_lines, fixtures, ground
from hackmatrix.rules import SIZE
from rlworldkit.render.spans import painted, width


def words_of(cell: Cell) -> list[str]:
    """All words of a cell, a block's cut behind its bracket."""
    whole = [text for line in (beings(cell), fixtures(cell), ground(cell)) for text, _ in line]
    return [part for word in whole for part in word.replace("]+", "] +").split()]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(STARTS)), st.integers(0, 2**32 - 1))
def test_every_word_of_a_cell_is_there_or_the_cell_says_that_there_are_more(start: str, seed: int) -> None:
    made = STARTS[start](np.random.default_rng(seed))
    model = board_model({"history": None, "killsSinceHistory": 0, "pickupsSinceHistory": 0} | made)
    lines = compact_lines(model)
    assert [width(line) for line in lines] == [56] * (2 * SIZE + 1)
    texts = [painted(line, colour=False).ljust(56) for line in lines]
    for row, cells in enumerate(model.rows):
        for col, cell in enumerate(cells):
            at = slice(2 + 9 * col, 11 + 9 * col)
            upper, lower = texts[2 * row][at], texts[2 * row + 1][at]
            assert upper[-1] in (MORE, "│")
            assert upper[-1] == MORE or all(word in f"{upper[:-1]} {lower[:-1]}" for word in words_of(cell))

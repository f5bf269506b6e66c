"""The legend: what it lists stands on boards, and it lists what stands there."""

import re

import numpy as np

from hackmatrix.exploration.starts import STARTS
from hackmatrix.render.model import BoardModel
from hackmatrix.render.words import EXIT, SIGNS, cell_text
from hackmatrix.rules import PROGRAMS

from .conftest import model_of

EXAMPLES = re.compile(r"\d+|" + "|".join(sorted(map(re.escape, PROGRAMS), key=len, reverse=True)))
"""Parts of a sign that differ with the number or the program."""


def letters(texts: list[str]) -> set[str]:
    return set("".join(EXAMPLES.sub("", text) for text in texts).replace(EXIT, "").replace(" ", ""))


def test_every_sign_on_a_board_of_a_page_is_in_the_legend_and_the_other_way_round(crowded: BoardModel) -> None:
    drawn = np.random.default_rng(5)
    boards = [crowded, *(model_of(start(drawn)) for start in STARTS.values())]
    assert letters([sign for sign, _ in SIGNS]) == letters(
        [cell_text(cell) for board in boards for cell in board.cells]
    )

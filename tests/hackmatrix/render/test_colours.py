"""The colours of words: those of the things that they name, as pictures draw them."""

import numpy as np
import pytest

from hackmatrix.exploration.starts import STARTS
from hackmatrix.render.colours import BLOCKS, CREDITS, ENEMIES, ENERGY, PICKUP, colour_of
from hackmatrix.render.model import BoardModel
from hackmatrix.render.words import cell_text
from hackmatrix.world import WORLD
from rlworldkit.render.colours import AGENT, GOOD, MUTED, TEXT, mix

from .conftest import model_of


@pytest.mark.parametrize(
    ("word", "colour"),
    [
        ("@", AGENT),
        ("EXIT", GOOD),
        ("ds", PICKUP),
        ("$2", CREDITS),
        ("e3", ENERGY),
        (".", MUTED),
        ("o", MUTED),
        ("V2*~3", ENEMIES["virus"]),
        ("D3t", ENEMIES["daemon"]),
        ("G1s", ENEMIES["glitch"]),
        ("C2(5,1)", ENEMIES["cryptog"]),
        (">C1", ENEMIES["cryptog"]),
        (">D3s", ENEMIES["daemon"]),
        ("[7]+4", mix(BLOCKS["data"][1], TEXT, 0.35)),
        ("[ANTI-V]+4", mix(BLOCKS["program"][1], TEXT, 0.35)),
        ("[?7]+4", mix(BLOCKS["question"][1], TEXT, 0.35)),
        ("[?WARP]+4", mix(BLOCKS["question"][1], TEXT, 0.35)),
        ("", None),
        ("nonsense", None),
    ],
)
def test_a_word_has_the_colour_of_what_it_names(word: str, colour: tuple[int, int, int] | None) -> None:
    assert colour_of(word) == colour


def test_no_word_on_a_board_is_without_a_colour(crowded: BoardModel) -> None:
    drawn = np.random.default_rng(5)
    boards = [crowded, *(model_of(start(drawn)) for start in STARTS.values())]
    words = {word for board in boards for cell in board.cells for word in cell_text(cell).split()}
    assert len(words) > 50
    assert {word for word in words if colour_of(word) is None} == set()


def test_rows_are_called_as_the_rules_call_them(crowded: BoardModel) -> None:
    assert WORLD.row_names == tuple(str(row[0].row) for row in crowded.rows)

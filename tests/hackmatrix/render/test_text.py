"""A board in a terminal, large and in little room, and its legend."""

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hackmatrix.exploration.starts import STARTS
from hackmatrix.render.model import BoardModel, Cell, board_model
from hackmatrix.render.text import MORE, beings, compact_lines, draw_text, fixtures, ground
from hackmatrix.render.words import EXIT, SIGNS, cell_text
from hackmatrix.rules import PROGRAMS, SIZE
from rlworldkit.render.spans import painted, width
from tests.hackmatrix.rules.blocks import credits, data, question

from .conftest import Draw, model_of

CROWDED = """
  ┌──────────┬──────────┬──────────┬──────────┬──────────┬──────────┐  stage 7 of 8, turn 23
  │  V1*~2   │          │          │          │          │    D3    │  hp ♥♥♡
5 │          │          │          │          │          │   EXIT   │  attack 2 of 3
  │          │          │          │          │          │          │  credits 17  energy 9
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤  data siphons 2  score 41
  │    c2    │   >D3    │          │          │    c?    │          │  next spawn: turn 28
4 │          │          │          │          │          │          │  SHOW off CALM off STEP on
  │          │          │          │          │          │          │
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤  2 programs
  │          │   G2*    │          │          │          │          │  WARP   HACK
3 │   [?]    │[ANTI-V]+4│          │          │  [3]+0   │          │
  │          │          │          │          │$3 e3 . o │          │
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤
  │          │          │    @     │          │          │          │
2 │          │          │          │          │ [WARP]+5 │          │
  │    $2    │          │          │   . o    │          │          │
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤  @ player  V2 virus with 2 hp
  │          │          │          │          │          │          │  D daemon  G glitch  C cryptog
1 │          │  [9]+9   │          │          │          │          │  c2 hidden  c? last known cell
  │          │          │          │          │          │          │  * stunned ~3 disabled 3 turns
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤  >D1 daemon comes in 1 turn
  │   >V1    │          │    C2    │          │          │          │  [7]+4 7 points, spawns 4
0 │    ds    │          │          │          │          │    ds    │  [WARP] program  [?] question
  │          │          │          │    e1    │          │          │  $2 credits  e3 energy
  └──────────┴──────────┴──────────┴──────────┴──────────┴──────────┘  ds data siphon to pick up
        0          1          2          3          4          5       . siphoned  o siphon's centre
"""


def words_of(text: str, row: int, col: int) -> list[str]:
    lines = text.splitlines()[1 + 4 * (5 - row) :][:3]
    return " ".join(line.split("│")[1 + col] for line in lines).split()


def test_a_board_with_everything_on_it(crowded: BoardModel) -> None:
    assert draw_text(crowded, colour=False) == CROWDED.strip("\n")


def test_a_question_hides_what_it_holds_and_a_block_what_lies_under_it_until_it_is_siphoned(model: Draw) -> None:
    boards = [model(question(0, 0, **what)) for what in ({"points": 4}, {"points": 9}, {"program": "warp"})]
    assert [words_of(draw_text(board, colour=False), 0, 0) for board in boards] == [["[?]"]] * 3
    assert len({draw_text(board) for board in boards}) == 1
    for siphoned, words in ((False, ["[7]+7"]), (True, ["[7]+7", "$2", "."])):
        board = model(data(1, 1, points=7, siphoned=siphoned), credits(1, 1, 2))
        assert words_of(draw_text(board, colour=False), 1, 1) == words


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


def words_in(cell: Cell) -> list[str]:
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
            assert upper[-1] == MORE or all(word in f"{upper[:-1]} {lower[:-1]}" for word in words_in(cell))

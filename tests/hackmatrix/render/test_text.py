"""A board in a terminal, large and in little room, and its legend."""

from hackmatrix.render.model import BoardModel
from hackmatrix.render.text import draw_text
from tests.hackmatrix.rules.blocks import credits, data, question

from .conftest import Draw

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

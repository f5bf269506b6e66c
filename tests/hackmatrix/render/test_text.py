"""A board in a terminal."""

import re

from hackmatrix import rules
from hackmatrix.render.model import BoardModel
from hackmatrix.render.text import draw_text

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
    """The words of one cell, from top to bottom."""
    lines = text.splitlines()[1 + 4 * (5 - row) :][:3]
    return " ".join(line.split("│")[1 + col] for line in lines).split()


def test_a_board_with_everything_on_it(crowded: BoardModel) -> None:
    assert draw_text(crowded, colour=False) == CROWDED.strip("\n")


def test_colours_change_no_word(crowded: BoardModel) -> None:
    coloured = draw_text(crowded)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines()
    assert [line.rstrip() for line in lines] == draw_text(crowded, colour=False).splitlines()
    assert coloured.count("\x1b[0m") > 36


def test_the_largest_numbers_fit_into_100_columns_and_26_lines(model: Draw) -> None:
    most = {"credits": 9999, "energy": 9999, "dataSiphons": 9999, "score": 9999}
    for flag in (False, True):
        board = model(
            player={"row": 2, "col": 2, "hp": 0, **most},
            enemies=[{"type": "cryptog", "row": 3, "col": 3, "hp": 2, "stunned": True, "disabledTurns": 255}],
            blocks=[{"row": 3, "col": 3, "type": "program", "programType": "anti-v", "siphoned": True}],
            resources=[{"row": 3, "col": 3, "credits": 3, "energy": 3}],
            siphonCenters=[{"row": 3, "col": 3}],
            ownedPrograms=list(range(rules.FIRST_PROGRAM, rules.NUM_ACTIONS)),
            turn=2**32 - 1,
            nextScheduledTaskTurn=2**32 - 1,
            scheduledTasksDisabled=flag,
        )
        lines = re.sub(r"\x1b\[[0-9;]*m", "", draw_text(board)).splitlines()
        assert len(lines) == 26
        assert max(map(len, lines)) <= 100
        assert words_of("\n".join(lines), 3, 3) == ["c2*~255", "c?", "[ANTI-V]+4", "$3", "e3", ".", "o"]


def test_a_question_hides_what_it_holds(model: Draw) -> None:
    held = ({"points": 4}, {"points": 9}, {"programType": "warp"})
    boards = [model(blocks=[{"row": 0, "col": 0, "type": "question", **what}]) for what in held]
    assert [words_of(draw_text(board, colour=False), 0, 0) for board in boards] == [["[?]"]] * 3
    assert len({draw_text(board) for board in boards}) == 1


def test_a_block_hides_what_lies_under_it_until_it_is_siphoned(model: Draw) -> None:
    def words(siphoned: bool) -> list[str]:
        block = {"row": 1, "col": 1, "type": "data", "points": 7, "siphoned": siphoned}
        board = model(blocks=[block], resources=[{"row": 1, "col": 1, "credits": 2}])
        return words_of(draw_text(board, colour=False), 1, 1)

    assert words(siphoned=False) == ["[7]+7"]
    assert words(siphoned=True) == ["[7]+7", "$2", "."]


def test_the_end_of_a_game_is_told(model: Draw) -> None:
    assert "♡♡♡ dead" in draw_text(model(player={"row": 0, "col": 0, "hp": 0}), colour=False)
    assert "game won, turn 4" in draw_text(model(stage=9, turn=4), colour=False)


def test_calm_leaves_no_next_spawn(model: Draw) -> None:
    assert "next spawn: none (CALM)" in draw_text(model(scheduledTasksDisabled=True), colour=False)
    assert "next spawn: turn 9" in draw_text(model(nextScheduledTaskTurn=9), colour=False)

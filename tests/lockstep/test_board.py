"""How a state is drawn in reports."""

from hackmatrix import jax_env
from hackmatrix.rules import observation_label
from hackmatrix.world.board import draw_board


def test_cells_read_from_what_stands_there_to_what_lies_there() -> None:
    state = jax_env.get_state(
        jax_env.set_state(
            {
                "player": {"row": 0, "col": 0, "score": 7},
                "enemies": [
                    {"type": "virus", "row": 5, "col": 0, "hp": 1, "stunned": True, "disabledTurns": 2},
                    {"type": "cryptog", "row": 4, "col": 0, "hp": 2, "isFromScheduledTask": True},
                ],
                "transmissions": [{"row": 4, "col": 1, "turnsRemaining": 3, "enemyType": "daemon"}],
                "blocks": [
                    {"row": 3, "col": 0, "type": "question", "points": 4},
                    {"row": 3, "col": 1, "type": "program", "programType": "warp"},
                ],
                "resources": [
                    {"row": 2, "col": 0, "credits": 2},
                    {"row": 2, "col": 1, "energy": 1, "dataSiphon": True},
                ],
                "siphoned": [{"row": 1, "col": 0}],
            }
        )
    )
    board = draw_board(state)
    assert board.rows[0] == ("V1*~2", "", "", "", "", "EXIT")
    assert board.rows[1][:2] == ("C2(4,0)t", ">D3")
    assert board.rows[2][:2] == ("[?4]+4", "[p8]+5")
    assert board.rows[3][:2] == ("$2", "e1 ds")
    assert board.rows[4][0] == "."
    assert board.rows[5][0] == "@"
    assert board.scalars["score"] == 7
    assert board.scalars["history"] == "none"


def test_every_number_of_the_observation_has_its_own_name() -> None:
    names = [observation_label((index,)) for index in range(1545)]
    assert len(set(names)) == 1545
    assert names[2] == "player hp"
    assert names[10] == "owns PUSH"
    assert names[33 + 42 * 8 + 4] == "cell (1,2) enemyHP"

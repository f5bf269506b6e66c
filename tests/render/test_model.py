"""What a model says of a state."""

from dataclasses import FrozenInstanceError

import pytest

from hackmatrix.render.model import PROGRAMS, Block, BoardModel, Cell, Enemy, Transmission

from .conftest import Draw


def test_cells_lie_in_row_major_order(crowded: BoardModel) -> None:
    assert [(cell.row, cell.col) for cell in crowded.cells] == [divmod(index, 6) for index in range(36)]
    assert crowded.cell(2, 2).player


def test_a_cell_holds_everything_that_is_in_it(crowded: BoardModel) -> None:
    assert crowded.cell(5, 0).enemy == Enemy("virus", hp=1, stunned=True, disabled=2, hidden=False)
    assert crowded.cell(4, 1).transmission == Transmission("daemon", turns=3, kind_hidden=True)
    assert crowded.cell(3, 0).block == Block(points=4, program=None, spawn=4, question=True, siphoned=False)
    assert crowded.cell(2, 4).block == Block(points=None, program="WARP", spawn=5, question=False, siphoned=False)
    siphoned = Block(points=3, program=None, spawn=0, question=False, siphoned=True)
    assert crowded.cell(3, 4) == Cell(3, 4, block=siphoned, credits=3, energy=3, siphoned=True, centre=True)
    assert crowded.cell(0, 5) == Cell(0, 5, pickup=True)
    assert crowded.cell(5, 5).exit


def test_the_status_has_the_numbers_beside_the_board(crowded: BoardModel) -> None:
    assert (crowded.hp, crowded.credits, crowded.energy, crowded.data_siphons) == (2, 17, 9, 2)
    assert (crowded.attack, crowded.score, crowded.stage, crowded.turn) == (2, 41, 7, 23)
    assert (crowded.show, crowded.calm, crowded.step) == (False, False, True)
    assert crowded.next_scheduled_turn == 28


def test_programs_have_their_names_in_table_order(crowded: BoardModel) -> None:
    assert crowded.programs == ("WARP", "HACK")
    assert (len(PROGRAMS), PROGRAMS[0]) == (23, "PUSH")


def test_o4_a_cryptog_hides_outside_the_players_row_and_column(model: Draw) -> None:
    def hidden(row: int, col: int, show: bool = False) -> bool:
        board = model(enemies=[{"type": "cryptog", "row": row, "col": col, "hp": 1}], showActivated=show)
        enemy = board.cell(row, col).enemy
        assert enemy is not None
        return enemy.hidden

    assert [hidden(2, 5), hidden(5, 2), hidden(3, 3), hidden(3, 3, show=True)] == [False, False, True, False]


def test_o4_only_a_hidden_cryptog_has_a_last_known_cell(crowded: BoardModel) -> None:
    assert [(cell.row, cell.col) for cell in crowded.cells if cell.last_known] == [(4, 4)]


def test_o4_a_block_covers_amounts_until_its_cell_is_siphoned(crowded: BoardModel) -> None:
    assert [crowded.cell(*place).amounts_shown for place in ((1, 1), (3, 4), (2, 0))] == [False, True, True]


def test_a_game_ends_dead_or_won(model: Draw) -> None:
    dead, won = model(player={"row": 0, "col": 0, "hp": 0}), model(stage=9)
    assert [(board.dead, board.won) for board in (dead, won, model())] == [(True, False), (False, True), (False, False)]


def test_a_model_does_not_change(crowded: BoardModel) -> None:
    with pytest.raises(FrozenInstanceError):
        crowded.hp = 3  # type: ignore[misc]

"""Models of states, as far as ``test_text.py`` does not show them."""

from dataclasses import FrozenInstanceError

import pytest

from hackmatrix.render.model import Block, BoardModel, Cell, Enemy, Transmission

from .conftest import Draw


def test_cells_lie_in_row_major_order_and_the_top_row_is_drawn_first(crowded: BoardModel) -> None:
    assert [(cell.row, cell.col) for cell in crowded.cells] == [divmod(index, 6) for index in range(36)]
    assert [[cell.row for cell in row] for row in crowded.rows] == [[row] * 6 for row in (5, 4, 3, 2, 1, 0)]


def test_a_cell_holds_everything_that_is_in_it(crowded: BoardModel) -> None:
    assert crowded.cell(5, 0).enemy == Enemy("virus", hp=1, stunned=True, disabled_turns=2)
    assert crowded.cell(4, 0).enemy == Enemy("cryptog", hp=2, from_schedule=True, last_known=(4, 4), hidden=True)
    assert crowded.cell(4, 1).transmission == Transmission("daemon", turns_remaining=3, type_hidden=True)
    assert crowded.cell(0, 0).transmission == Transmission("virus", 1, from_siphon=True, type_hidden=True)
    assert crowded.cell(3, 0).block == Block("question", content=4, spawn_count=4)
    assert crowded.cell(2, 4).block == Block("program", content="WARP", spawn_count=5)
    siphoned = Block("data", content=3, spawn_count=0)
    assert crowded.cell(3, 4) == Cell(3, 4, block=siphoned, credits=3, energy=3, siphoned=True, siphon_center=True)
    assert crowded.cell(0, 5) == Cell(0, 5, pickup=True)
    # O4: only a hidden cryptog has a last known cell, and a block covers amounts until its cell is siphoned.
    assert [(cell.row, cell.col) for cell in crowded.cells if cell.last_known] == [(4, 4)]
    assert [crowded.cell(*place).amounts_shown for place in ((1, 1), (3, 4), (2, 0))] == [False, True, True]


def test_a_game_ends_dead_or_won_and_a_model_does_not_change(model: Draw) -> None:
    dead, won = model(hp=0), model(stage=9)
    assert [(board.dead, board.won) for board in (dead, won, model())] == [(True, False), (False, True), (False, False)]
    assert dead.record_turn is None
    with pytest.raises(FrozenInstanceError):
        dead.hp = 3  # type: ignore[misc]

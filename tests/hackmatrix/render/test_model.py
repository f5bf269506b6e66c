"""What a model says of a state."""

from dataclasses import FrozenInstanceError

import pytest

from hackmatrix.render.model import Block, BoardModel, Cell, Enemy, Transmission

from .conftest import Draw


def test_cells_lie_in_row_major_order(crowded: BoardModel) -> None:
    assert [(cell.row, cell.col) for cell in crowded.cells] == [divmod(index, 6) for index in range(36)]
    assert crowded.cell(2, 2).player


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
    assert crowded.cell(5, 5).exit


def test_the_top_row_is_drawn_first(crowded: BoardModel) -> None:
    assert [[cell.row for cell in row] for row in crowded.rows] == [[row] * 6 for row in (5, 4, 3, 2, 1, 0)]


def test_the_numbers_beside_the_board_are_the_states(crowded: BoardModel) -> None:
    assert (crowded.hp, crowded.credits, crowded.energy, crowded.data_siphons) == (2, 17, 9, 2)
    assert (crowded.attack_damage, crowded.score, crowded.stage, crowded.turn) == (2, 41, 7, 23)
    assert (crowded.show_activated, crowded.scheduled_tasks_disabled, crowded.step_active) == (False, False, True)
    assert crowded.next_scheduled_task_turn == 28
    assert crowded.record_turn is None


def test_programs_have_their_names_in_table_order(crowded: BoardModel) -> None:
    assert crowded.owned_programs == ("WARP", "HACK")


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

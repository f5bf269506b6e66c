"""A board as a picture."""

import importlib
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix.render.model import BoardModel
from hackmatrix.render.picture import HEIGHT, WIDTH, cell_area, draw_picture
from parity.errors import ParityError

from .conftest import Draw

Place = dict[str, int]
HERE: Place = {"row": 4, "col": 4}
UNDER_A_BLOCK = {"blocks": [{**HERE, "type": "data", "points": 5}]}
UNDER_A_SIPHONED_BLOCK = {"blocks": [{**HERE, "type": "data", "points": 5, "siphoned": True}]}


def virus(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a state dict
    return {"enemies": [{**HERE, "type": "virus", "hp": 2, **fields}]}


def cryptog(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a state dict
    return {"enemies": [{**HERE, "type": "cryptog", "hp": 2, **fields}]}


def coming(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a state dict
    return {"transmissions": [{**HERE, "turnsRemaining": 1, "enemyType": "virus", **fields}]}


def block(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a state dict
    return {"blocks": [{**HERE, "type": "data", **fields}]}


def program(name: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a state dict
    return {"blocks": [{**HERE, "type": "program", "programType": name, **fields}]}


def resource(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a state dict
    return {"resources": [{**HERE, **fields}]}


DIFFERENT = {
    "an enemy": ({}, virus()),
    "its type": (virus(), {"enemies": [{**HERE, "type": "glitch", "hp": 2}]}),
    "its hp": (virus(), virus(hp=1)),
    "stunned": (virus(), virus(stunned=True)),
    "disabled": (virus(), virus(disabledTurns=1)),
    "for how long": (virus(disabledTurns=2), virus(disabledTurns=3)),
    "a transmission": ({}, coming()),
    "its turns": (coming(), coming(turnsRemaining=2)),
    "what comes": (coming(), coming(enemyType="daemon")),
    "a block": ({}, block(points=5)),
    "its points": (block(points=5, spawnCount=5), block(points=6, spawnCount=5)),
    "its spawn count": (block(points=5), block(points=5, spawnCount=2)),
    "its program": (program("row"), program("col")),
    "a question": (block(points=5), {"blocks": [{**HERE, "type": "question", "points": 5}]}),
    "a siphoned block": (block(points=5), block(points=5, siphoned=True)),
    "credits": ({}, resource(credits=1)),
    "how many": (resource(credits=1), resource(credits=2)),
    "energy": ({}, resource(energy=1)),
    "how much": (resource(energy=1), resource(energy=2)),
    "a pickup": ({}, resource(dataSiphon=True)),
    "a pickup under an enemy": (virus(), {**virus(), **resource(dataSiphon=True)}),
    "a siphoned cell": ({}, {"siphoned": [HERE]}),
    "a siphon's centre": ({}, {"siphonCenters": [HERE]}),
    "a block under an enemy": (virus(), {**virus(), **block(points=5)}),
    "credits under a siphoned block": (UNDER_A_SIPHONED_BLOCK, {**UNDER_A_SIPHONED_BLOCK, **resource(credits=1)}),
}


def changed(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.any(before != after, axis=-1)


@pytest.mark.parametrize(("before", "after"), DIFFERENT.values(), ids=DIFFERENT)
def test_everything_changes_its_own_cell_and_nothing_else(
    model: Draw, before: dict[str, Any], after: dict[str, Any]
) -> None:
    difference = changed(draw_picture(model(**before)), draw_picture(model(**after)))
    inside = difference[cell_area(4, 4)].sum()
    assert inside >= 20
    assert difference.sum() == inside


STATUS: dict[str, dict[str, Any]] = {
    "hp": {"player": {"row": 2, "col": 2, "hp": 1}},
    "credits": {"player": {"row": 2, "col": 2, "credits": 1}},
    "energy": {"player": {"row": 2, "col": 2, "energy": 1}},
    "data siphons": {"player": {"row": 2, "col": 2, "dataSiphons": 1}},
    "attack": {"player": {"row": 2, "col": 2, "attackDamage": 2}},
    "score": {"player": {"row": 2, "col": 2, "score": 1}},
    "stage": {"stage": 3, "nextScheduledTaskTurn": 5},
    "won": {"stage": 9, "nextScheduledTaskTurn": 5},
    "turn": {"turn": 1, "nextScheduledTaskTurn": 5},
    "next spawn": {"nextScheduledTaskTurn": 6},
    "SHOW": {"showActivated": True},
    "CALM": {"scheduledTasksDisabled": True},
    "STEP": {"stepActive": True},
    "a program": {"ownedPrograms": [5]},
}


@pytest.mark.parametrize("fields", STATUS.values(), ids=STATUS)
def test_the_status_changes_the_panel_and_no_cell(model: Draw, fields: dict[str, Any]) -> None:
    usual = {"nextScheduledTaskTurn": 5}
    difference = changed(draw_picture(model(**usual)), draw_picture(model(**{**usual, **fields})))
    assert difference.sum() >= 20
    assert not difference[:, : cell_area(0, 5)[1].stop].any()


def test_the_player_and_the_exit_are_drawn_where_they_are(model: Draw) -> None:
    moved = changed(draw_picture(model()), draw_picture(model(player={"row": 1, "col": 3})))
    assert [bool(moved[cell_area(*place)].any()) for place in ((2, 2), (1, 3), (0, 0))] == [True, True, False]
    moved = changed(draw_picture(model()), draw_picture(model(exit={"row": 0, "col": 0})))
    assert [bool(moved[cell_area(*place)].any()) for place in ((5, 5), (0, 0), (0, 5))] == [True, True, False]


def test_row_0_is_at_the_bottom() -> None:
    assert cell_area(0, 0)[0].start > cell_area(5, 0)[0].start
    assert cell_area(0, 5)[1].start > cell_area(0, 0)[1].start


def test_o4_a_hidden_cryptog_is_fainter_than_one_in_sight(model: Draw) -> None:
    floor = draw_picture(model())[cell_area(4, 4)].astype(int)

    def strength(**fields: Any) -> int:  # noqa: ANN401 - fields of a state dict
        picture = draw_picture(model(**cryptog(lastKnownRow=0, lastKnownCol=0), **fields))[cell_area(4, 4)]
        return int(np.abs(picture - floor).sum())

    assert 0 < strength() < strength(showActivated=True) / 2


def test_o4_a_hidden_cryptogs_last_known_cell_is_marked(model: Draw) -> None:
    first, second = (draw_picture(model(**cryptog(lastKnownRow=0, lastKnownCol=col))) for col in (0, 1))
    assert changed(first, second)[cell_area(0, 0)].any()
    assert changed(first, second)[cell_area(0, 1)].any()


def test_o4_what_a_question_holds_and_what_a_block_covers_is_not_drawn(model: Draw) -> None:
    held = ({"points": 4}, {"points": 9}, {"programType": "warp"})
    questions = [draw_picture(model(blocks=[{**HERE, "type": "question", **what}])) for what in held]
    assert all(np.array_equal(questions[0], other) for other in questions)
    covered = draw_picture(model(**UNDER_A_BLOCK, **resource(credits=1)))
    assert np.array_equal(covered, draw_picture(model(**UNDER_A_BLOCK)))


def test_every_picture_has_the_same_size_and_type(model: Draw, crowded: BoardModel) -> None:
    for board in (model(), crowded, model(stage=9)):
        picture = draw_picture(board)
        assert picture.shape == (HEIGHT, WIDTH, 3)
        assert picture.dtype == np.dtype(np.uint8)
        assert picture.flags.c_contiguous
        assert picture.flags.writeable


def test_a_board_is_always_drawn_alike(crowded: BoardModel) -> None:
    assert np.array_equal(draw_picture(crowded), draw_picture(crowded))


def test_no_window_is_needed(crowded: BoardModel) -> None:
    pygame = importlib.import_module("pygame")
    pygame.quit()
    draw_picture(crowded)
    assert not pygame.display.get_init()


@pytest.mark.parametrize("name", ["hackmatrix.render.picture", "worldkit.render.window"])
def test_without_pygame_one_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for module in (name, "worldkit.render.pen", "worldkit.render._pygame"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ParityError, match=r"^Pictures need pygame: run `pip install pygame`\.$"):
        importlib.import_module(name)

"""A board as a picture."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix.render import picture
from hackmatrix.render.picture import cell_area
from tests.hackmatrix.rules.blocks import credits, data, energy, pickup, program, question
from tests.hackmatrix.rules.engines import Entry
from tests.hackmatrix.rules.movers import coming, cryptog, glitch, virus

from .conftest import Draw

draw_picture = cache(picture.draw_picture)
Change = tuple[list[Entry], list[Entry]]
VIRUS, DATA, SIPHONED = virus(4, 4), data(4, 4), data(4, 4, siphoned=True)

DIFFERENT: dict[str, Change] = {
    "an enemy": ([], [VIRUS]),
    "its type": ([VIRUS], [glitch(4, 4)]),
    "its hp": ([VIRUS], [virus(4, 4, hp=1)]),
    "stunned": ([VIRUS], [virus(4, 4, stunned=True)]),
    "disabled": ([VIRUS], [virus(4, 4, disabledTurns=1)]),
    "for how long": ([virus(4, 4, disabledTurns=2)], [virus(4, 4, disabledTurns=3)]),
    "a transmission": ([], [coming("virus", 4, 4, turns=1)]),
    "its turns": ([coming("virus", 4, 4, turns=1)], [coming("virus", 4, 4, turns=2)]),
    "what comes": ([coming("virus", 4, 4, turns=1)], [coming("daemon", 4, 4, turns=1)]),
    "a block": ([], [DATA]),
    "its points": ([data(4, 4, points=5, spawnCount=5)], [data(4, 4, points=6, spawnCount=5)]),
    "its spawn count": ([DATA], [data(4, 4, spawnCount=2)]),
    "its program": ([program(4, 4, "row")], [program(4, 4, "col")]),
    "a question": ([DATA], [question(4, 4, points=5)]),
    "a siphoned block": ([DATA], [SIPHONED]),
    "credits": ([], [credits(4, 4, 1)]),
    "how many": ([credits(4, 4, 1)], [credits(4, 4, 2)]),
    "energy": ([], [energy(4, 4, 1)]),
    "how much": ([energy(4, 4, 1)], [energy(4, 4, 2)]),
    "a pickup": ([], [pickup(4, 4)]),
    "a pickup under an enemy": ([VIRUS], [VIRUS, pickup(4, 4)]),
    "a block under an enemy": ([VIRUS], [VIRUS, DATA]),
    "credits under a siphoned block": ([SIPHONED], [SIPHONED, credits(4, 4, 1)]),
}
FLAGGED = {"a siphoned cell": {"siphoned": ((4, 4),)}, "a siphon's centre": {"centres": ((4, 4),)}}


def changed(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.any(before != after, axis=-1)


@pytest.mark.parametrize("what", [*DIFFERENT, *FLAGGED])
def test_everything_changes_its_own_cell_and_nothing_else(model: Draw, what: str) -> None:
    before, after = DIFFERENT.get(what, ([], []))
    difference = changed(draw_picture(model(*before)), draw_picture(model(*after, **FLAGGED.get(what, {}))))
    inside = difference[cell_area(4, 4)].sum()
    assert inside >= 20
    assert difference.sum() == inside


def test_o4_a_hidden_cryptog_is_fainter_than_one_in_sight_and_its_last_known_cell_is_marked(model: Draw) -> None:
    hidden = cryptog(4, 4, lastKnownRow=0, lastKnownCol=0)
    floor, faint, clear = (
        draw_picture(board)[cell_area(4, 4)].astype(int)
        for board in (model(), model(hidden), model(hidden, showActivated=True))
    )
    assert 0 < np.abs(faint - floor).sum() < np.abs(clear - floor).sum() / 2
    first, second = (draw_picture(model(cryptog(4, 4, lastKnownRow=0, lastKnownCol=col))) for col in (0, 1))
    assert changed(first, second)[cell_area(0, 0)].any()
    assert changed(first, second)[cell_area(0, 1)].any()


def test_o4_what_a_question_holds_and_what_a_block_covers_is_not_drawn(model: Draw) -> None:
    held = ({"points": 4}, {"points": 9}, {"program": "warp"})
    questions = [draw_picture(model(question(4, 4, **what))) for what in held]
    assert all(np.array_equal(questions[0], other) for other in questions)
    assert np.array_equal(draw_picture(model(DATA, credits(4, 4, 1))), draw_picture(model(DATA)))

"""Pictures of a state: its surroundings on the torus, as a board and as a picture."""

from typing import Any

import numpy as np
import pytest

from goodharts.render import picture
from goodharts.render.board import FOOD_COLOUR, POISON_COLOUR, around
from goodharts.render.picture import draw_picture
from goodharts.rules import EMPTY, FOOD, POISON, SIZE
from rlparity import State

CORNER = SIZE * SIZE - 1


def state_of(x: int, y: int, food: list[int], poison: list[int], **numbers: Any) -> State:  # noqa: ANN401 - JSON
    own = {"x": x, "y": y, "energy": 1230, "steps": 7, "event": 7, "key": [1, 2], **numbers}
    return {"food": food, "poison": poison, **own, "foodCount": len(food), "poisonCount": len(poison)}


@pytest.mark.parametrize(("x", "y"), [(0, 0), (127, 127), (0, 64), (64, 127)])
def test_what_lies_across_an_edge_is_next_to_the_agent_G1(x: int, y: int) -> None:
    left, below = y * SIZE + (x - 1) % SIZE, (y + 1) % SIZE * SIZE + x
    cells = around(state_of(x, y, [left], [below]), 2)
    assert {(row, column): int(cells[row, column]) for row, column in np.argwhere(cells != EMPTY).tolist()} == {
        (2, 1): FOOD,
        (3, 2): POISON,
    }


def pixel(drawn: np.ndarray, x: float, y: float) -> tuple[int, ...]:
    return tuple(drawn[round(y), round(x)].tolist())


def test_the_picture_shows_every_item_of_the_torus_and_of_the_surroundings() -> None:
    drawn = draw_picture(state_of(64, 64, [64 * SIZE + 66], [10 * SIZE + 100]))
    near_x = picture._NEAR_LEFT + picture._NEAR / 2 + 2 * picture._CELL
    near_y = picture._TOP + picture._NEAR / 2
    assert pixel(drawn, near_x, near_y) == FOOD_COLOUR
    spot = pixel(drawn, picture._MAP_LEFT + 4 * 100.5, picture._TOP + 4 * 10.5)
    assert np.abs(np.subtract(spot, POISON_COLOUR)).max() < 40  # a small thing with smooth edges

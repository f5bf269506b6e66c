"""The script that makes a player siphon programs: what it takes for within reach, and what it does then."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix import rules
from hackmatrix.rules import ACTIONS, SIPHON

RESET, HACK = (ACTIONS.index(name) - SIPHON - 1 for name in ("RESET", "HACK"))


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parents[2] / "python" / "scripts" / "price_of_programs.py"))


def observed(
    player: tuple[int, int], blocks: dict[tuple[int, int], int], siphoned: bool = False
) -> NDArray[np.float32]:
    """One observation, (1, 1545), with program blocks by their cells (O1, O3)."""
    board = np.zeros(rules.GRID_SHAPE, np.float32)
    for cell, program in blocks.items():
        board[*cell, 12 + program], board[*cell, 11] = 1, siphoned
    return np.concatenate([np.array(player, np.float32) / 5, np.zeros(31), board.ravel()]).astype(np.float32)[None]


@pytest.mark.parametrize("cell", [(2, 3), (4, 3), (3, 2), (3, 4), (3, 3)])
def test_the_cross_is_within_reach(cell: tuple[int, int], script: dict[str, Any]) -> None:
    assert np.flatnonzero(script["new_within_reach"](observed((3, 3), {cell: RESET}))).tolist() == [RESET]
    assert not script["new_within_reach"](observed((3, 3), {cell: RESET}, siphoned=True)).any()


@pytest.mark.parametrize("cell", [(1, 1), (5, 0), (0, 5), (2, 0)])
def test_nothing_else_is(cell: tuple[int, int], script: dict[str, Any]) -> None:
    assert not script["new_within_reach"](observed((0, 0), {cell: RESET})).any()


def test_it_siphons_what_is_wanted_new_and_possible_and_plays_on_otherwise(script: dict[str, Any]) -> None:
    wanted = np.arange(rules.NUM_PROGRAMS) == RESET
    player = script["insisting"](lambda observations, *rest: np.full(len(observations), 2, np.int32), wanted)

    def chosen(observation: NDArray[np.float32], can_siphon: bool = True) -> int:
        mask = np.ones((1, rules.NUM_ACTIONS), np.bool_)
        mask[0, SIPHON] = can_siphon
        action: int = player(observation, mask, np.zeros(1, np.uint64), np.zeros(1, np.int64)).item()
        return action

    near = observed((0, 0), {(0, 1): RESET})
    assert chosen(near) == SIPHON
    assert chosen(near, can_siphon=False) == 2
    assert chosen(observed((0, 0), {(0, 1): HACK})) == 2
    near[0, 10 + RESET] = 1
    assert chosen(near) == 2

"""Both engines in lockstep, beside the games of [tool.rlparity] in pyproject.toml, in which every rule fires."""

from hackmatrix.rules import MARKS
from hackmatrix.swift_env import SwiftEngine
from rlparity.testing import assert_lockstep

FEW = 8
"""The width whose programs without marks other tests use."""


def test_both_lists_of_marks_agree(one_game: SwiftEngine) -> None:
    assert [*MARKS] == one_game.rules()["marks"]


def test_uniform_games_that_restart_by_themselves_are_the_same(swift_built: None) -> None:
    # from the last seeds of 64 bits on to the first ones
    outcome = assert_lockstep("hackmatrix", steps=400, games=FEW, seed=2**64 - FEW // 2, auto_reset=True)
    assert outcome.steps == 400 * FEW
    assert outcome.episodes > 30

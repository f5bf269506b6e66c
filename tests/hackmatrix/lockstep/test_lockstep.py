"""Both engines in lockstep: a share of the runs of docs/explanation/architecture.md; every rule fires on both sides."""

from hackmatrix.rules import MARKS
from hackmatrix.swift_env import SwiftGames
from hackmatrix.world import WORLD
from parity.coverage import coverage_of
from parity.lockstep import Settings, run

PAIR = ("swift", "jax")
FEW, MANY = 8, 64
"""The widths whose programs other tests use: without marks, and with marks."""


def test_both_lists_of_marks_agree(one_game: SwiftGames) -> None:
    assert tuple(MARKS) == one_game.marks()[1]


def test_directed_games_are_the_same_and_meet_every_rule(swift_built: None) -> None:
    outcome = run(WORLD, PAIR, Settings("directed", steps=200, games=MANY, marks=True))
    assert outcome.divergences == []
    assert outcome.marks is not None
    coverage = coverage_of(WORLD, outcome.marks)
    assert coverage.unequal() == ()
    assert coverage.never() == ()
    assert coverage.silent_marks() == ()


def test_uniform_games_that_restart_by_themselves_are_the_same(swift_built: None) -> None:
    # from the last seeds of 64 bits on to the first ones
    settings = Settings("uniform", steps=400, games=FEW, seed=2**64 - FEW // 2, auto_reset=True)
    outcome = run(WORLD, PAIR, settings)
    assert outcome.divergences == []
    assert outcome.steps == 400 * FEW
    assert outcome.episodes > 30

"""Coverage: a rule is hit where both engines hit it, by any of its marks."""

from dataclasses import replace

import numpy as np
from toy_world import WORLD

from parity.coverage import coverage_of


def test_a_rule_is_hit_as_often_as_on_the_side_where_it_fired_less() -> None:
    world = replace(WORLD, marks={"a.one": "A", "a.two": "A", "b": "B", "c": "C"}, rules=("A", "B", "C"))
    found = coverage_of(world, (np.array([3, 20, 5, 0]), np.array([3, 18, 0, 0])))
    assert [found.hits(rule) for rule in found.rules] == [21, 0, 0]
    assert found.never() == ("B", "C")
    assert found.rare() == ()
    assert found.silent_marks() == ("c",)
    assert [mark.mark for mark in found.unequal()] == ["a.two", "b"]


def test_a_rule_that_fired_fewer_than_ten_times_is_rare() -> None:
    world = replace(WORLD, marks={"a": "A", "b": "B"}, rules=("A", "B"))
    assert coverage_of(world, (np.array([9, 10]), np.array([9, 10]))).rare() == ("A",)

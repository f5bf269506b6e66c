"""Coverage: a rule is hit where both engines hit it, by any of its marks."""

from dataclasses import replace

import numpy as np
from faulty_orchard import WORLD

from rlparity.tools.coverage import coverage_of


def test_a_rule_is_hit_as_often_as_on_the_side_where_it_fired_less() -> None:
    marks = {"a.one": "A", "a.two": "A", "b": "B", "c": "C", "d": "D"}
    world = replace(WORLD, marks=marks, rules=("A", "B", "C", "D"))
    found = coverage_of(world, (np.array([3, 20, 5, 0, 9]), np.array([3, 7, 0, 0, 9])))
    assert found.rules == {"A": 10, "B": 0, "C": 0, "D": 9}
    assert (found.never, found.silent_marks, found.unequal_marks) == (["B", "C"], ["c"], ["a.two", "b"])
    assert found.rare == ["D"]  # fewer than ten times

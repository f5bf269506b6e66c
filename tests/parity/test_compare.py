"""Comparison: what counts as different, and how a difference is named."""

from dataclasses import replace

import numpy as np
import pytest
from faulty_orchard import WORLD
from hypothesis import given
from hypothesis import strategies as st

from rlparity import Tolerance
from rlparity.core.compare import Difference, explain, rows_that_differ, state_differences


@given(st.integers(0, 4), st.integers(0, 6), st.integers(0, 31))
def test_one_flipped_bit_is_found_in_its_row_and_place(row: int, column: int, bit: int) -> None:
    expected = np.random.default_rng(0).random((5, 7), dtype=np.float32)
    observed = expected.copy()
    observed.view(np.uint32)[row, column] ^= np.uint32(1 << bit)
    differ = rows_that_differ(WORLD, {"x": expected}, {"x": observed})
    assert np.flatnonzero(differ).tolist() == [row]
    assert [found.field for found in explain(WORLD, {"x": expected}, {"x": observed}, row)] == [f"x[{column}]"]


def test_floats_are_compared_by_type_and_bits_and_integers_by_value() -> None:
    zero, nan = np.array([0.0]), np.array([np.nan])
    assert rows_that_differ(WORLD, {"x": zero}, {"x": -zero}).all()
    assert not rows_that_differ(WORLD, {"x": nan}, {"x": nan.copy()}).any()
    single, double = np.zeros((2, 3), np.float32), np.zeros((2, 3))
    assert rows_that_differ(WORLD, {"x": single}, {"x": double}).all()
    assert not rows_that_differ(WORLD, {"x": np.arange(3, dtype=np.int8)}, {"x": np.arange(3)}).any()
    (found,) = explain(WORLD, {"x": single}, {"x": double}, 0)
    assert found == Difference("x", "float32 (3,)", "float64 (3,)")


def test_a_tolerance_concerns_its_own_field_only() -> None:
    one, other = {"x": np.array([1.0]), "y": np.array([1.0])}, {"x": np.array([1.05]), "y": np.array([1.0])}
    assert not rows_that_differ(replace(WORLD, tolerances={"x": 0.1}), one, other).any()
    assert rows_that_differ(replace(WORLD, tolerances={"y": 0.1}), one, other).all()
    assert rows_that_differ(replace(WORLD, tolerances={"x": 0.01}), one, other).all()


@pytest.mark.parametrize(
    ("tolerance", "other", "differs"),
    [
        (Tolerance(relative=0.01), [1.005, 200.0], [False, True]),
        (Tolerance(ulps=1), [np.nextafter(np.float32(1), np.float32(2)), 100.0], [False, False]),
        (Tolerance(ulps=1), [np.float32(1) + np.float32(3e-7), 100.0], [True, False]),
        (Tolerance(absolute=1), [np.nan, np.inf], [True, True]),
    ],
)
def test_a_tolerance_is_absolute_relative_or_in_ulps(
    tolerance: Tolerance, other: list[float], differs: list[bool]
) -> None:
    world = replace(WORLD, tolerances={"x": tolerance})
    one, two = {"x": np.array([[1, 100]], np.float32)}, {"x": np.array([other], np.float32)}
    assert rows_that_differ(world, one, two).tolist() == [any(differs)]
    places = [f"x[{index}]" for index, each in enumerate(differs) if each]
    assert [difference.field for difference in explain(world, one, two, 0)] == places


@pytest.mark.parametrize("value", [1 / 3, np.nan, np.inf])
def test_types_may_differ_where_a_tolerance_says_so(value: float) -> None:
    one, other = {"x": np.array([[value]], np.float32)}, {"x": np.array([[value]], np.float64)}
    assert rows_that_differ(replace(WORLD, tolerances={"x": Tolerance(ulps=1)}), one, other).all()
    assert not rows_that_differ(replace(WORLD, tolerances={"x": Tolerance(ulps=1, any_dtype=True)}), one, other).any()


def test_numbers_in_states_have_the_tolerance_of_their_path() -> None:
    expected, observed = {"a": [1.0, 2], "b": {"c": 1.0}}, {"a": [1.05, 2], "b": {"c": 1.05}}
    both = {"state": [expected]}, {"state": [observed]}
    assert not rows_that_differ(replace(WORLD, tolerances={"state": 0.1}), *both).any()
    world = replace(WORLD, tolerances={"state.a": 0.1})
    assert rows_that_differ(world, *both).all()
    assert explain(world, *both, 0) == [Difference("state.b.c", 1.0, 1.05)]


def test_a_field_that_one_side_lacks_differs() -> None:
    expected, observed = {"x": np.zeros(2), "y": np.zeros(2)}, {"x": np.zeros(2)}
    assert rows_that_differ(WORLD, expected, observed).tolist() == [True, True]
    assert explain(WORLD, expected, observed, 1) == [Difference("y", "present", "absent")]


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), ("1", 1), (None, 0)])
def test_states_tell_json_types_apart(one: object, other: object) -> None:
    expected, observed = [{"a": [one]}], [{"a": [other]}]
    assert rows_that_differ(WORLD, {"state": expected}, {"state": observed}).all()
    assert list(state_differences(WORLD, expected[0], observed[0])) == [Difference("state.a[0]", one, other)]


def test_state_differences_name_paths_and_what_is_absent_and_ignore_the_order_of_keys() -> None:
    assert not rows_that_differ(WORLD, {"state": [{"a": 1, "b": 2}]}, {"state": [{"b": 2, "a": 1}]}).any()
    expected = {"hp": 2, "apples": [{"cell": 1}, {"cell": 5}]}
    observed = {"hp": 2, "apples": [{"cell": 2}], "extra": 0}
    assert list(state_differences(WORLD, expected, observed)) == [
        Difference("state.apples[0].cell", 1, 2),
        Difference("state.apples[1]", {"cell": 5}, "absent"),
        Difference("state.extra", "absent", 0),
    ]


def test_places_are_named_by_the_world() -> None:
    names = {"components": 3, "mask": 6, "marks": 11, "observation": 34}
    expected = {name: np.zeros((1, size), np.int32) for name, size in names.items()}
    observed = {name: array.copy() for name, array in expected.items()}
    for array in observed.values():
        array[0, 1] = 1
    fields = [found.field for found in explain(WORLD, expected, observed, 0)]
    assert fields == ["components[fruit]", "mask[down]", "marks[start.empty]", "observation[1: score]"]

"""What tests of several worlds play and compare: random valid actions, trees of arrays, smaller states."""

from typing import Any

import numpy as np

from rlparity import BatchEngine, State, StateRefused, World


def choose(masks: np.ndarray, rng: np.random.Generator, wrong: float = 0.0) -> np.ndarray:
    """A uniform valid action for each mask (n, actions); with probability ``wrong`` any action at all."""
    valid = (masks * rng.random(masks.shape)).argmax(axis=1)
    return np.where(rng.random(len(masks)) < wrong, rng.integers(masks.shape[1], size=len(masks)), valid)


def assert_same(left: Any, right: Any, where: str = "") -> None:  # noqa: ANN401 - a tree
    """Trees of arrays are equal: the same keys, types and values."""
    if isinstance(left, dict):
        assert isinstance(right, dict), where
        assert left.keys() == right.keys(), where
        for key in left:
            assert_same(left[key], right[key], f"{where}.{key}")
    elif isinstance(left, (list, tuple)) or (isinstance(left, np.ndarray) and left.dtype == object):
        assert len(left) == len(right), where
        for a, b in zip(left, right, strict=True):
            assert_same(a, b, where)
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype, where
        np.testing.assert_array_equal(left, right, where)
    else:
        assert type(left) is type(right), (where, left, right)
        assert left == right, where


def size(value: Any) -> int:  # noqa: ANN401 - JSON
    """The measure by which smaller states are smaller."""
    if isinstance(value, dict | list):
        return 1 + sum(map(size, value.values() if isinstance(value, dict) else value))
    return abs(value) if isinstance(value, int) else 0


def check_smaller_states(world: World, engine: BatchEngine, state: State) -> None:
    """The smaller states of a state are smaller, and mostly taken by an engine of one game."""
    candidates = [smaller for shrinker in world.shrinkers for smaller in shrinker(state)]
    assert all(size(smaller) < size(state) for smaller in candidates)
    refused = 0
    for smaller in candidates:
        try:
            engine.set_state([smaller], np.zeros(1, np.intp))
        except StateRefused:
            refused += 1
    assert refused < len(candidates) / 2

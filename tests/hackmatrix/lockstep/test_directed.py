"""The parts of directed runs: starts, policies, smaller states; known games."""

from collections import Counter

import numpy as np
import pytest

from hackmatrix import rules
from hackmatrix.exploration.starts import STARTS
from hackmatrix.world import WORLD
from rlparity import BatchEngine, State, StateRefused, View

ONLY = np.zeros(1, np.intp)


@pytest.fixture(scope="module")
def swift(swift_built: None) -> BatchEngine:
    return WORLD.engines["swift"](1)


def draws(name: str, count: int) -> list[State]:
    rng = np.random.default_rng(list(STARTS).index(name))
    return [STARTS[name](rng) for _ in range(count)]


def size(state: State) -> int:
    """The measure by which smaller states are smaller."""
    entries = sum(len(value) for value in state.values() if isinstance(value, list))
    numbers = sum(value for value in state.values() if isinstance(value, int))
    player = sum(state["player"][name] for name in state["player"] if name not in ("row", "col"))
    return entries + numbers + player + (10**6 if state["history"] else 0)


@pytest.mark.parametrize("name", ["mixed", "crowded", "saturated"])
def test_smaller_states_are_smaller_and_mostly_taken(swift: BatchEngine, name: str) -> None:
    swift.set_state(draws(name, 1), ONLY)
    whole = swift.get_state(ONLY)[0]
    results: Counter[bool] = Counter()
    for shrinker in WORLD.shrinkers:
        for smaller in shrinker(whole):
            assert size(smaller) < size(whole)
            try:
                swift.set_state([smaller], ONLY)
                results[True] += 1
            except StateRefused:
                results[False] += 1
    assert results[True] > results[False]


@pytest.mark.parametrize("name", WORLD.policies)
def test_a_policy_gives_every_valid_action_some_weight(swift: BatchEngine, name: str) -> None:
    for state in draws("armed", 5):
        observation = swift.set_state([state], ONLY)
        weights = WORLD.policies[name](View(observation, swift.mask(), ONLY, swift.get_state))
        assert weights.shape == (1, rules.NUM_ACTIONS)
        assert (weights[swift.mask()] > 0).all()

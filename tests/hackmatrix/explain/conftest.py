"""The engines, one game each, that the tests of this folder share."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from hackmatrix.explain.readings import Prices
from hackmatrix.explain.transition import Transition
from hackmatrix.world import WORLD, rules_of
from parity import BatchEngine, State

from .corpus import Paid

Play = Callable[[State, int], Paid]
ONLY = np.zeros(1, np.intp)


@pytest.fixture(scope="session")
def swift(swift_built: None) -> Iterator[BatchEngine]:
    engine = WORLD.engines["swift"](1)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def jax() -> BatchEngine:
    """One game of the JAX engine: compiled once, for the whole folder, in the shape that other folders use too."""
    return WORLD.engines["jax"](1)


@pytest.fixture(scope="session")
def prices(swift_built: None) -> Prices:
    found: Prices = rules_of("swift")["rewards"]["prices"]
    return found


@pytest.fixture
def play(swift: BatchEngine) -> Play:
    def one_step(state: State, action: int) -> Paid:
        swift.set_state([state], ONLY)
        (before,) = swift.get_state(ONLY)
        step = swift.step(np.array([action], np.int32))
        (after,) = swift.get_state(ONLY)
        return Paid(Transition(before, after, action), tuple(step.components[0].tolist()))

    return one_step

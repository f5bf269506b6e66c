"""The engines, one game each, that the tests of this folder share."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from hackmatrix.explain.play import explained_steps, prices_of
from hackmatrix.explain.readings import Prices
from hackmatrix.explain.transition import Transition
from hackmatrix.world import WORLD
from parity import BatchEngine, State
from parity.trace import Case

from .corpus import Paid

Play = Callable[[State, int], Paid]


@pytest.fixture(scope="session")
def swift(swift_built: None) -> Iterator[BatchEngine]:
    """One game of the Swift engine."""
    engine = WORLD.engines["swift"](1)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def jax() -> BatchEngine:
    """One game of the JAX engine: compiled once, for the whole folder, in the shape that other folders use too."""
    return WORLD.engines["jax"](1)


@pytest.fixture(scope="session")
def prices(swift_built: None) -> Prices:
    """Table W as the Swift engine holds it."""
    return prices_of("swift")


@pytest.fixture
def play(swift: BatchEngine, prices: Prices) -> Play:
    """Play one action of a made state on the Swift engine."""

    def one_step(state: State, action: int) -> Paid:
        _, after = explained_steps([swift], Case((action,), state=state), prices)
        assert isinstance(after.transition, Transition)
        (values,) = after.values
        return Paid(after.transition, tuple(np.asarray(values).tolist()))

    return one_step

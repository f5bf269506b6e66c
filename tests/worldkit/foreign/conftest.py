"""Small games for trainers that others wrote."""

import pytest
from jax import Array

from hackmatrix.rules import NUM_ACTIONS
from tests.worldkit.ppo.free_engine import FreeEnv, State
from worldkit.ppo.gymnax_style import GymnaxStyle

LIMIT = 5
SHOWN = 2 * NUM_ACTIONS
"""How many numbers of an observation tell anything: the right action, and the valid ones."""


class ShortEnv(FreeEnv):
    """The free engine without the numbers that are always 0, which networks would only be slower for."""

    observation_shape = (SHOWN,)

    def observe(self, state: State) -> Array:
        return super().observe(state)[:SHOWN]


@pytest.fixture(scope="session")
def free_style() -> GymnaxStyle:
    """Games of 3 to 7 steps, so that this limit cuts some and not others."""
    return GymnaxStyle(ShortEnv(), LIMIT)

"""A small world for trainers that others wrote."""

import pytest
from jax import Array
from toy_world.adapter import OrchardJaxEnv

from worldkit.envs.gymnax_style import GymnaxStyle

LIMIT = 5


class PaidOrchard(OrchardJaxEnv):
    """Orchard that pays 1 for every valid action, so that whoever has no mask profits from learning it."""

    def reward(self, components: Array) -> Array:
        return -0.1 * components[0]


@pytest.fixture(scope="session")
def paid() -> GymnaxStyle:
    """Games that this limit cuts unless an invalid action or the wasp ends them."""
    return GymnaxStyle(PaidOrchard(), LIMIT)

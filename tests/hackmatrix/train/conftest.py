"""The random key that the tests of training the game share."""

import jax
import pytest


@pytest.fixture(scope="session")
def key() -> jax.Array:
    return jax.random.key(7)

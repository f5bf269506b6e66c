"""A search in HackMatrix does not see what its game is going to draw."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from hackmatrix.jax_training import HackMatrixJaxEnv
from hackmatrix.rules import NUM_ACTIONS
from hackmatrix.world import open_jax
from worldkit.jax.engine import JaxEngine
from worldkit.ppo.search import Search, returns_of

GAMES = 64  # the width that other tests have the JAX engine compiled for
ENV = HackMatrixJaxEnv()


@pytest.fixture
def same_present() -> Iterator[JaxEngine]:
    """One game after some turns, in which enemies have come, with another future in every slot."""
    engine = open_jax(GAMES)
    assert isinstance(engine, JaxEngine)
    everywhere = np.arange(GAMES)
    engine.reset(np.full(GAMES, 3, np.uint64), everywhere)
    for _ in range(6):
        engine.step(engine.mask().argmax(axis=1).astype(np.int32))
    (state,) = engine.get_state(np.arange(1))
    assert state["enemies"]
    assert state["player"]["hp"] > 0
    engine.set_state([{**state, "seed": 1000 + slot, "eventNumber": slot} for slot in range(GAMES)], everywhere)
    yield engine
    engine.close()


def presents(engine: JaxEngine) -> set[str]:
    """The games as they stand, but for where their chance comes from."""
    states = engine.get_state(np.arange(GAMES))
    return {
        str({name: value for name, value in state.items() if name not in ("seed", "eventNumber")}) for state in states
    }


def test_a_present_with_another_future_keeps_nothing_of_its_own(same_present: JaxEngine) -> None:
    """Seeds and event numbers differ; with one seed instead, the states that a search plays on from are the same."""
    engine = same_present
    assert len(presents(engine)) == 1
    seeds = jnp.broadcast_to(jnp.array([7, 8], jnp.uint32), (GAMES, 2))
    leaves = jax.tree.leaves(jax.vmap(ENV.reseed)(engine.states, seeds))
    assert all(np.array_equal(leaf, np.broadcast_to(leaf[0], leaf.shape)) for leaf in leaves)
    assert_futures_differ(engine)


@pytest.mark.long
def test_a_search_cannot_peek(same_present: JaxEngine) -> None:
    """What every action is worth is the same as well, bit for bit."""
    engine = same_present
    searched = 8
    masks = engine.mask() & (np.arange(GAMES) < searched)[:, None]
    search = jax.jit(lambda *given: returns_of(ENV, uniform, Search(2, 3, 0.99), *given))
    key = jnp.broadcast_to(jax.random.key(0), GAMES)
    values: Any = np.asarray(search(engine.states, masks, key))[:searched]
    assert np.array_equal(np.all(values > -np.inf, axis=-1), masks[:searched])
    assert np.array_equal(values, np.broadcast_to(values[0], values.shape))
    assert len(presents(engine)) == 1  # the search changed none of the games
    assert_futures_differ(engine)


def assert_futures_differ(engine: JaxEngine) -> None:
    for _ in range(4):
        engine.step(engine.mask().argmax(axis=1).astype(np.int32))
    assert len(presents(engine)) > 1


def uniform(compact: Array) -> tuple[Array, Array]:
    return jnp.zeros((len(compact), NUM_ACTIONS)), jnp.zeros(len(compact))

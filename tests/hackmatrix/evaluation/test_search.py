"""A search in HackMatrix does not see what its game is going to draw."""

import jax
import jax.numpy as jnp
import numpy as np

from hackmatrix.jax_training import HackMatrixJaxEnv
from hackmatrix.world import open_jax
from worldkit.jax.engine import JaxEngine

GAMES = 64  # the width that other tests have the JAX engine compiled for


def presents(engine: JaxEngine) -> set[str]:
    """The games as they stand, but for where their chance comes from."""
    states = engine.get_state(np.arange(GAMES))
    return {
        str({name: value for name, value in state.items() if name not in ("seed", "eventNumber")}) for state in states
    }


def play(engine: JaxEngine, steps: int) -> None:
    for _ in range(steps):
        engine.step(engine.mask().argmax(axis=1).astype(np.int32))


def test_a_present_with_another_future_keeps_nothing_of_its_own() -> None:
    """Seeds and event numbers differ; with one seed instead, the states that a search plays on from are the same."""
    engine, everywhere = open_jax(GAMES), np.arange(GAMES)
    assert isinstance(engine, JaxEngine)
    engine.reset(np.full(GAMES, 3, np.uint64), everywhere)
    play(engine, 6)  # in which enemies have come
    (state,) = engine.get_state(np.arange(1))
    assert state["enemies"]
    assert state["player"]["hp"] > 0
    engine.set_state([{**state, "seed": 1000 + slot, "eventNumber": slot} for slot in range(GAMES)], everywhere)
    assert len(presents(engine)) == 1
    seeds = jnp.broadcast_to(jnp.array([7, 8], jnp.uint32), (GAMES, 2))
    leaves = jax.tree.leaves(jax.vmap(HackMatrixJaxEnv().reseed)(engine.states, seeds))
    assert all(np.array_equal(leaf, np.broadcast_to(leaf[0], leaf.shape)) for leaf in leaves)
    play(engine, 4)
    assert len(presents(engine)) > 1
    engine.close()

"""Rule marks of the JAX engine: the game is the same with and without them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hackmatrix import jax_env
from hackmatrix.rules import MARKS, NUM_ACTIONS
from worldkit.jaxkit.marks import collecting
from worldkit.jaxkit.threefry import trainer_seeds


@pytest.fixture(scope="module")
def start() -> jax_env.State:
    return jax.jit(jax.vmap(jax_env.reset))(trainer_seeds(3, 64))


@pytest.mark.long  # the directed run of tests/lockstep holds the marked engine to the Swift one at every step
def test_collecting_changes_nothing_in_the_game(start: jax_env.State) -> None:
    plain, with_marks = jax.jit(jax.vmap(jax_env.step)), jax.jit(jax.vmap(collecting(jax_env.step)))
    state = start
    for turn in range(12):
        actions = jnp.argmax(
            jax.vmap(jax_env.mask)(state) * ((jnp.arange(NUM_ACTIONS) + 5 * turn) % NUM_ACTIONS + 1), axis=-1
        )
        expected, result = plain(state, actions)
        (observed, same_result), _ = with_marks(state, actions)
        jax.tree.map(np.testing.assert_array_equal, (expected, result), (observed, same_result))
        state = expected


@pytest.mark.long
def test_an_invalid_action_fires_what_refused_it_and_nothing_else(start: jax_env.State) -> None:
    fired = jax.jit(jax.vmap(collecting(jax_env.step)))(start, jnp.full(64, NUM_ACTIONS - 1))[1]
    for game in range(64):
        assert {name for name in MARKS if name in fired and fired[name][game]} == {
            "C1.invalid",
            "C4.invalid",
            "M3.notOwned",
        }

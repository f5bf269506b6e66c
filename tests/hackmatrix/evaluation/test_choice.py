"""Choice of actions: addressed draws, the same as JAX's own, and the likeliest valid action."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rlparity.threefry import seed_pairs
from rlworldkit.agents.choice import drawn, likeliest, probabilities

ACTIONS = 28


def situations() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Logits, masks with at least one valid action, seeds of games and steps."""
    random, count = np.random.default_rng(5), 2020
    masks = random.random((count, ACTIONS)) < 0.4
    masks[:, 0] |= ~masks.any(axis=1)
    logits = (3 * random.normal(size=(count, ACTIONS))).astype(np.float32)
    return logits, masks, random.integers(0, 2**64, count, dtype=np.uint64), random.integers(0, 5000, count)


SITUATIONS = situations()


@pytest.mark.parametrize("player_seed", [3, 2**32 - 1])
def test_a_draw_is_that_of_jax_random(player_seed: int) -> None:
    logits, masks, seeds, steps = SITUATIONS

    def draw(words: jax.Array, step: jax.Array, masked: jax.Array) -> jax.Array:
        key = jax.random.key(player_seed)
        for number in (words[0], words[1], step):
            key = jax.random.fold_in(key, number)
        return jax.random.categorical(key, masked)

    masked = jnp.where(masks, logits, -jnp.inf)
    expected = jax.jit(jax.vmap(draw))(seed_pairs(seeds), steps.astype(np.uint32), masked)
    np.testing.assert_array_equal(drawn(logits, masks, seeds, steps, player_seed), expected)


def test_probabilities_are_those_of_the_valid_actions() -> None:
    logits = np.log([[1, 2, 3, 4]]).astype(np.float32)
    found = probabilities(logits, np.array([[True, True, False, True]]))
    np.testing.assert_allclose(found, [[1 / 7, 2 / 7, 0, 4 / 7]], rtol=1e-6)


def test_the_likeliest_valid_action_is_the_first_of_several() -> None:
    logits = np.array([[1, 5, 5, 9]], np.float32)
    assert likeliest(logits, np.array([[True, True, True, False]])).tolist() == [1]

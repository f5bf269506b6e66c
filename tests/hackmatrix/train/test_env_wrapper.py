"""``HackMatrixGymnax``, the game with Gymnax's interface: what it says of itself and of a step."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hackmatrix import rules
from hackmatrix.purejaxrl.env_wrapper import EnvParams, HackMatrixGymnax
from parity.errors import UsageError
from worldkit.jax.threefry import Seed, next_seed

GAMES, STEPS = 64, 48


def test_it_says_what_it_is() -> None:
    env: HackMatrixGymnax = pickle.loads(pickle.dumps(HackMatrixGymnax(max_steps=9)))
    assert (env.name, env.default_params) == ("hackmatrix", EnvParams(9))
    actions, observations = env.action_space(env.default_params), env.observation_space(env.default_params)
    assert (actions.n, observations.shape) == (rules.NUM_ACTIONS, (rules.OBSERVATION_SIZE,))
    assert (observations.low, observations.high) == (0.0, 1.0)
    with pytest.raises(UsageError, match="max_steps must be at least 1, got 0"):
        HackMatrixGymnax(max_steps=0)


def test_a_step_says_what_happened_and_an_ended_game_is_followed_by_the_next() -> None:
    env = HackMatrixGymnax()
    step = jax.jit(jax.vmap(env.step, in_axes=(None, 0, 0)))
    masks = jax.jit(jax.vmap(env.get_action_mask))
    state = jax.jit(jax.vmap(env.reset_from_seed))(env.env.initial_seeds(11, GAMES))
    key, died, completed = jax.random.key(5), 0, 0
    for number in range(STEPS):
        mask = masks(state)
        actions = jax.random.categorical(jax.random.fold_in(key, number), jnp.where(mask, 0.0, -jnp.inf))
        invalid = np.arange(GAMES) == number
        before = state.game.seed
        obs, state, reward, done, info = step(key, state, jnp.where(invalid, rules.NUM_ACTIONS, actions))

        assert info["reward_breakdown"].keys() == set(rules.COMPONENTS)
        np.testing.assert_allclose(sum(info["reward_breakdown"].values()), reward, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(info["invalid_action"], invalid)
        assert done[invalid].all()
        assert (reward[invalid] == 0).all()
        np.testing.assert_array_equal(done, info["terminated"])
        assert not info["truncated"].any()

        following = next_seed(Seed(before.low, before.high))
        np.testing.assert_array_equal(state.game.seed.low, jnp.where(done, following.low, before.low))
        own, dead = info["terminal_observation"], info["death"]
        np.testing.assert_array_equal(own[~done], obs[~done])
        assert (own[dead][:, 2] == 0).all()  # the player's hp (O1)
        assert (obs[dead][:, 2] == 1).all()
        died, completed = died + int(dead.sum()), completed + int(info["stage_complete"].sum())
    assert died > 0 < completed

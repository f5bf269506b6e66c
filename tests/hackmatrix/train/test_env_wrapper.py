"""``HackMatrixGymnax``, the game with Gymnax's interface: what it says of itself."""

import pickle

import pytest

from hackmatrix import rules
from hackmatrix.prices import PRICES
from hackmatrix.purejaxrl.env_wrapper import EnvParams, HackMatrixGymnax
from rlparity.errors import UsageError

DEFAULT_PRICES = tuple(price.default for price in PRICES)


def test_it_says_what_it_is() -> None:
    env: HackMatrixGymnax = pickle.loads(pickle.dumps(HackMatrixGymnax(max_steps=9)))
    assert (env.name, env.default_params) == ("hackmatrix", EnvParams(9, DEFAULT_PRICES))
    actions, observations = env.action_space(env.default_params), env.observation_space(env.default_params)
    assert (actions.n, observations.shape) == (rules.NUM_ACTIONS, (rules.OBSERVATION_SIZE,))
    assert (observations.low, observations.high) == (0.0, 1.0)
    with pytest.raises(UsageError, match="max_steps must be at least 1, got 0"):
        HackMatrixGymnax(max_steps=0)

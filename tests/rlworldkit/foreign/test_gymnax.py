"""Gymnax and trainers written for it work with a world as with its own environments."""

from typing import Any

import gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnax.environments import environment, spaces
from jax import Array

from rlworldkit.envs.gymnax_adapter import GymnaxAdapter
from rlworldkit.envs.gymnax_style import GymnaxStyle
from rlworldkit.jax.env import JaxEnv, StepOutput
from tests.rlworldkit.foreign.purejaxrl_ppo import CONFIG, make_train

LIMIT = 5
DOORS = 6


class Doors(JaxEnv):
    """Six doors of which two are shut, as an observation tells: each open one pays 1, and a shut one ends the game."""

    name = "doors"
    num_actions = DOORS
    observation_shape = (DOORS,)
    low, high = 0.0, 1.0
    components = ("passed",)

    def reset(self, seed: Array) -> Array:
        return seed

    def step(self, state: Array, action: Array) -> StepOutput:
        passes = self.mask(state)[action]
        after, components = state * jnp.uint32(1664525) + jnp.uint32(1013904223), passes[None].astype(jnp.int32)
        return StepOutput(after, self.reward(components), components, ~passes, jnp.bool_(False), after)

    def next_game(self, state: Array) -> Array:
        return state + 1

    def observe(self, state: Array) -> Array:
        return self.mask(state).astype(jnp.float32)

    def mask(self, state: Array) -> Array:
        return jnp.arange(DOORS) % 3 != (state[0] >> 16) % 3


@pytest.fixture(scope="module")
def paid() -> GymnaxStyle:
    """Games that this limit cuts unless a shut door ends them."""
    return GymnaxStyle(Doors(), LIMIT)


@pytest.fixture(scope="module")
def adapted(paid: GymnaxStyle) -> GymnaxAdapter:
    return GymnaxAdapter(paid)


def test_the_limit_of_the_params_is_the_one_that_holds(paid: GymnaxStyle) -> None:
    step = jax.jit(paid.step)
    for limit in (1, 2):
        params = paid.default_params.replace(max_steps_in_episode=limit)
        _, state = paid.reset(jax.random.key(3), params)
        ends = []
        for _ in range(limit):
            action = jnp.argmax(paid.get_action_mask(state))
            _, state, _, done, info = step(jax.random.key(0), state, action, params)
            ends.append((bool(done), bool(info["truncated"])))
        assert ends == [(False, False)] * (limit - 1) + [(True, True)]


def test_environment_and_spaces_are_gymnaxs(paid: GymnaxStyle, adapted: GymnaxAdapter) -> None:
    assert isinstance(adapted, environment.Environment)
    assert (adapted.name, adapted.num_actions) == ("doors", DOORS)
    for env in (paid, adapted):
        actions, observations = env.action_space(env.default_params), env.observation_space(env.default_params)
        assert isinstance(actions, spaces.Discrete)
        assert isinstance(observations, spaces.Box)
        assert (actions.n, observations.shape) == (DOORS, (DOORS,))
        assert (observations.low, observations.high) == (0.0, 1.0)


def test_the_mask_is_there_at_reset_and_after_every_step(paid: GymnaxStyle, adapted: GymnaxAdapter) -> None:
    key = jax.random.key(1)
    for env, step in ((paid, jax.jit(paid.step)), (adapted, adapted.step)):
        _, state = env.reset(key, env.default_params)
        mask = env.get_action_mask(state)
        for _ in range(2 * LIMIT):
            np.testing.assert_array_equal(mask, paid.env.mask(state.game))
            assert mask.any()
            _, state, *_, info = step(key, state, jnp.argmax(mask), env.default_params)
            mask = info["action_mask"]


def test_purejaxrls_interface_is_enough_to_play_episodes(paid: GymnaxStyle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gymnax, "make", lambda name: (paid, paid.default_params))
    short = {**CONFIG, "TOTAL_TIMESTEPS": 1024}
    metrics = jax.tree.map(np.asarray, jax.jit(make_train(short))(jax.random.key(0))["metrics"])
    ended, lengths = metrics["returned_episode"], metrics["returned_episode_lengths"]
    assert ended.shape == (1, 16, 64)
    assert set(lengths[ended]) == set(range(1, LIMIT + 1))


SETTINGS: dict[str, dict[str, Any]] = {
    "PPO": {"num_steps": 16, "num_minibatches": 4, "num_epochs": 4, "agent_kwargs": {"hidden_layer_sizes": (16,)}},
    "DQN": {"buffer_size": 2048, "fill_buffer": 1024, "batch_size": 64, "target_update_freq": 256},
}


@pytest.mark.long
@pytest.mark.parametrize(("name", "steps", "rate"), [("PPO", 16_384, 1e-2), ("DQN", 32_768, 1e-3)])
def test_rejax_learns_without_a_mask_what_is_valid(name: str, steps: int, rate: float, paid: GymnaxStyle) -> None:
    rejax = pytest.importorskip("rejax", reason="rejax is not installed: pip install rejax")
    algorithm = getattr(rejax, name).create(
        env=paid,
        num_envs=64,
        total_timesteps=steps,
        eval_freq=steps,
        learning_rate=rate,
        skip_initial_evaluation=True,
        **SETTINGS[name],
    )
    _, (lengths, returns) = jax.jit(algorithm.train)(jax.random.key(0))
    assert lengths.shape == returns.shape == (1, 128)
    assert lengths.max() <= LIMIT
    # one action in three is invalid: whoever does not know which plays 2.7 steps
    assert lengths.mean() > 4.5
    assert returns.mean() > 0.95 * lengths.mean()

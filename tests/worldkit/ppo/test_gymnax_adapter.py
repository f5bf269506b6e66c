"""A gymnax-style rollout, with gymnax's own LogWrapper, against the installed gymnax."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnax.environments import environment
from gymnax.wrappers.purerl import LogEnvState, LogWrapper
from jax import Array

from hackmatrix import rules
from worldkit.jax.env import JaxEnv, StepOutput
from worldkit.ppo.gymnax_adapter import GymnaxAdapter
from worldkit.ppo.gymnax_style import GymnaxStyle

from .free_engine import FreeEnv, State

NUM_GAMES = 8
NUM_STEPS = 30
LIMIT = 5
LONG_GAME = 9
"""The seed of a game of more turns than the limit."""


@pytest.fixture(scope="module")
def adapted() -> GymnaxAdapter:
    return GymnaxAdapter(GymnaxStyle(FreeEnv(), LIMIT))


@pytest.fixture(scope="module")
def rollout(adapted: GymnaxAdapter) -> dict[str, Any]:
    env = LogWrapper(adapted)
    params = env.default_params

    def step(carry: tuple[Array, LogEnvState], key: Array) -> tuple[tuple[Array, LogEnvState], dict[str, Any]]:
        mask, state = carry
        actions = jax.random.categorical(key, jnp.where(mask, 0.0, -jnp.inf))
        keys = jax.random.split(key, NUM_GAMES)
        obs, state, reward, terminated, truncated, info = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            keys, state, actions, params
        )
        record = {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated, **info}
        return (info["action_mask"], state), record

    obs, state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(jax.random.key(1), NUM_GAMES), params)
    assert obs.shape == (NUM_GAMES, rules.OBSERVATION_SIZE)
    mask = jax.vmap(adapted._env.get_action_mask)(state.env_state)
    _, records = jax.lax.scan(step, (mask, state), jax.random.split(jax.random.key(2), NUM_STEPS))
    return {name: np.asarray(value) for name, value in records.items() if name != "reward_breakdown"}


def test_it_is_a_gymnax_environment(adapted: GymnaxAdapter) -> None:
    assert isinstance(adapted, environment.Environment)
    assert (adapted.name, adapted.num_actions) == ("free", rules.NUM_ACTIONS)
    assert adapted.action_space(adapted.default_params).n == rules.NUM_ACTIONS
    assert adapted.observation_space(adapted.default_params).shape == (rules.OBSERVATION_SIZE,)


def test_the_log_wrapper_adds_up_returns_and_lengths(rollout: dict[str, Any]) -> None:
    returns, lengths = np.zeros(NUM_GAMES), np.zeros(NUM_GAMES, int)
    ended = 0
    for step in range(NUM_STEPS):
        returns += rollout["reward"][step]
        lengths += 1
        done = rollout["terminated"][step] | rollout["truncated"][step]
        np.testing.assert_array_equal(rollout["returned_episode"][step], done)
        np.testing.assert_allclose(rollout["returned_episode_returns"][step][done], returns[done], rtol=1e-5)
        np.testing.assert_array_equal(rollout["returned_episode_lengths"][step][done], lengths[done])
        assert (lengths <= LIMIT).all()
        returns[done], lengths[done] = 0, 0
        ended += int(done.sum())
    assert ended > NUM_GAMES


def test_terminated_and_truncated_are_told_apart(rollout: dict[str, Any]) -> None:
    assert rollout["terminated"].any()
    assert rollout["truncated"].any()
    assert not (rollout["terminated"] & rollout["truncated"]).any()


def test_the_final_observation_is_the_ended_episode_s(rollout: dict[str, Any]) -> None:
    done = rollout["terminated"] | rollout["truncated"]
    np.testing.assert_array_equal(rollout["final_observation"][~done], rollout["obs"][~done])
    # A game of the free engine that is over shows no valid action; one that was cut off still does.
    valid = rollout["final_observation"][..., 28:56]
    assert (valid[rollout["terminated"]] == 0).all()
    assert (valid[rollout["truncated"]].sum(axis=-1) == 5).all()


def test_step_env_does_not_reset(adapted: GymnaxAdapter) -> None:
    params = adapted.default_params
    key = jax.random.key(0)
    _, state = adapted.reset(key, params)
    seed = state.game.seed
    for count in range(1, LIMIT + 1):
        obs, state, _, terminated, _ = adapted.step_env(key, state, 0, params)
        assert state.steps == count
        assert state.game.seed == seed
        np.testing.assert_array_equal(obs, adapted.get_obs(state))
        assert bool(terminated) == bool(adapted.is_terminated(state, params))
        assert bool(adapted.is_truncated(state, params)) == (count == LIMIT)
        if terminated:
            break
    assert terminated or count == LIMIT


class Unmasked(FreeEnv):
    """A world that truncates by itself after two turns, and in which every action is always valid."""

    mask = JaxEnv.mask

    def step(self, state: State, action: Array) -> StepOutput:
        step = super().step(state, action)
        return step._replace(truncated=~step.terminated & (step.final.now.turn >= 2))


@pytest.mark.parametrize(
    ("world", "actions", "ends"),
    [
        (FreeEnv(), [rules.NUM_ACTIONS - 1], [(True, False)]),  # an invalid action ends a game whose mask is not empty
        (FreeEnv(), [0] * LIMIT, [(False, False)] * (LIMIT - 1) + [(False, True)]),
        (Unmasked(), [0, 0], [(False, False), (False, True)]),
        (Unmasked(), [rules.NUM_ACTIONS - 1], [(True, False)]),
    ],
)
def test_a_state_tells_how_its_episode_ended_whatever_its_mask(
    world: FreeEnv, actions: list[int], ends: list[tuple[bool, bool]]
) -> None:
    env = GymnaxAdapter(GymnaxStyle(world, LIMIT))
    params = env.default_params
    state = env._env.reset_from_seed(jnp.array([LONG_GAME, 0], jnp.uint32))
    assert env.discount(state, params) == 1
    for action, (terminated, truncated) in zip(actions, ends, strict=True):
        _, state, _, told, _ = env.step_env(jax.random.key(0), state, action, params)
        assert bool(told) == bool(env.is_terminated(state, params)) == terminated
        assert bool(env.is_truncated(state, params)) == truncated
        assert env.discount(state, params) == (0 if terminated else 1)
        assert env.get_action_mask(state).any()


def test_the_state_space_names_every_array_of_a_state(adapted: GymnaxAdapter) -> None:
    _, state = adapted.reset(jax.random.key(0), adapted.default_params)
    space = adapted.state_space(adapted.default_params)
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), state) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), space
    )


def test_without_a_limit_nothing_is_truncated() -> None:
    env = GymnaxAdapter(GymnaxStyle(FreeEnv()))
    _, state = env.reset(jax.random.key(0), env.default_params)
    assert not env.is_truncated(state, env.default_params)

"""A gymnax-style rollout, with gymnax's own LogWrapper, against the installed gymnax."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnax.environments import environment
from gymnax.wrappers.purerl import LogEnvState, LogWrapper
from jax import Array
from toy_world.in_jax import PICK, REST, Orchard

from worldkit.envs.gymnax_adapter import GymnaxAdapter
from worldkit.envs.gymnax_style import GymnaxStyle
from worldkit.jax.env import JaxEnv, StepOutput

from .orchards import PackedOrchard

NUM_GAMES = 8
NUM_STEPS = 60
LIMIT = 5
LONG_GAME = 9
"""The seed of a game in which nobody is stung twice within the limit."""


@pytest.fixture(scope="module")
def adapted() -> GymnaxAdapter:
    return GymnaxAdapter(GymnaxStyle(PackedOrchard(), LIMIT))


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
    assert obs.shape == (NUM_GAMES, 34)
    mask = jax.vmap(adapted._env.get_action_mask)(state.env_state)
    _, records = jax.lax.scan(step, (mask, state), jax.random.split(jax.random.key(2), NUM_STEPS))
    return {name: np.asarray(value) for name, value in records.items() if name != "reward_breakdown"}


def test_it_is_a_gymnax_environment(adapted: GymnaxAdapter) -> None:
    assert isinstance(adapted, environment.Environment)
    assert (adapted.name, adapted.num_actions) == ("orchard", 6)
    assert adapted.action_space(adapted.default_params).n == 6
    assert adapted.observation_space(adapted.default_params).shape == (34,)


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
    # who played on had hp and apples left
    final = rollout["final_observation"]
    goes_on = (final[..., 0] > 0) & (final[..., 2:18] > 0).any(axis=-1)
    np.testing.assert_array_equal(goes_on, ~rollout["terminated"])


def test_step_env_does_not_reset(adapted: GymnaxAdapter) -> None:
    params = adapted.default_params
    key = jax.random.key(0)
    _, state = adapted.reset(key, params)
    seed = state.game.seed
    for count in range(1, LIMIT + 1):
        obs, state, _, terminated, _ = adapted.step_env(key, state, 0, params)
        assert state.steps == count
        assert (jnp.stack(state.game.seed) == jnp.stack(seed)).all()
        np.testing.assert_array_equal(obs, adapted.get_obs(state))
        assert bool(terminated) == bool(adapted.is_terminated(state, params))
        assert bool(adapted.is_truncated(state, params)) == (count == LIMIT)
        if terminated:
            break
    assert terminated or count == LIMIT


class Unmasked(PackedOrchard):
    """A world that truncates by itself after two turns, and in which every action is always valid."""

    mask = JaxEnv.mask

    def step(self, state: Orchard, action: Array) -> StepOutput:
        step = super().step(state, action)
        return step._replace(truncated=~step.terminated & (step.final.turn >= 2))


@pytest.mark.parametrize(
    ("world", "actions", "ends"),
    [
        (PackedOrchard(), [PICK], [(True, False)]),  # an invalid action ends a game whose mask is not empty
        (PackedOrchard(), [REST] * LIMIT, [(False, False)] * (LIMIT - 1) + [(False, True)]),
        (Unmasked(), [REST, REST], [(False, False), (False, True)]),
        (Unmasked(), [PICK], [(True, False)]),
    ],
)
def test_a_state_tells_how_its_episode_ended_whatever_its_mask(
    world: PackedOrchard, actions: list[int], ends: list[tuple[bool, bool]]
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
    env = GymnaxAdapter(GymnaxStyle(PackedOrchard()))
    _, state = env.reset(jax.random.key(0), env.default_params)
    assert not env.is_truncated(state, env.default_params)

"""A gymnax-style rollout, with gymnax's own LogWrapper, against the installed gymnax."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
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


def test_its_six_values_are_the_wrappers_five_and_gymnax_adds_up_episodes_by_them(adapted: GymnaxAdapter) -> None:
    style, logging, params = adapted._env, LogWrapper(adapted), adapted.default_params

    def step(state: LogEnvState, key: Array) -> tuple[LogEnvState, Any]:
        mask = jax.vmap(style.get_action_mask)(state.env_state)
        actions, keys = jax.random.categorical(key, jnp.where(mask, 0.0, -jnp.inf)), jax.random.split(key, NUM_GAMES)
        plain = jax.vmap(style.step, in_axes=(0, 0, 0, None))(keys, state.env_state, actions, params)
        obs, state, *rest = jax.vmap(logging.step, in_axes=(0, 0, 0, None))(keys, state, actions, params)
        return state, (plain, (obs, state.env_state, *rest))

    obs, state = jax.vmap(logging.reset, in_axes=(0, None))(jax.random.split(jax.random.key(1), NUM_GAMES), params)
    assert obs.shape == (NUM_GAMES, 34)
    _, records = jax.lax.scan(step, state, jax.random.split(jax.random.key(2), NUM_STEPS))
    (obs, state, reward, done, told), six = jax.tree.map(np.asarray, records)
    info = six[5]
    assert told.pop("terminated").any()
    assert told.pop("truncated").any()
    final = told.pop("terminal_observation")
    five = obs, state, reward, done, {**told, "final_observation": final}
    mine = *six[:3], six[3] | six[4], {name: info[name] for name in five[4]}
    jax.tree.map(np.testing.assert_array_equal, mine, five)
    assert not (six[3] & six[4]).any()

    np.testing.assert_array_equal(info["returned_episode"], done)
    returns, lengths = np.zeros(NUM_GAMES), np.zeros(NUM_GAMES, int)
    for number, ended in enumerate(done):
        returns, lengths = returns + reward[number], lengths + 1
        np.testing.assert_allclose(info["returned_episode_returns"][number][ended], returns[ended], rtol=1e-5)
        np.testing.assert_array_equal(info["returned_episode_lengths"][number][ended], lengths[ended])
        returns[ended], lengths[ended] = 0, 0
    assert done.sum() > NUM_GAMES


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
def test_a_state_tells_how_its_episode_ended_whatever_its_mask_and_is_not_reset(
    world: PackedOrchard, actions: list[int], ends: list[tuple[bool, bool]]
) -> None:
    env = GymnaxAdapter(GymnaxStyle(world, LIMIT))
    params = env.default_params
    state = env._env.reset_from_seed(jnp.array([LONG_GAME, 0], jnp.uint32))
    assert env.discount(state, params) == 1
    for steps, (action, (terminated, truncated)) in enumerate(zip(actions, ends, strict=True), start=1):
        obs, state, _, told, _ = env.step_env(jax.random.key(0), state, action, params)
        assert bool(told) == bool(env.is_terminated(state, params)) == terminated
        assert bool(env.is_truncated(state, params)) == truncated
        assert env.discount(state, params) == (0 if terminated else 1)
        assert env.get_action_mask(state).any()
        assert (int(state.steps), int(state.game.seed[0])) == (steps, LONG_GAME)
        np.testing.assert_array_equal(obs, env.get_obs(state))


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

"""A stand-in for PureJaxRL's ``ppo.py`` with its interface: ``make_train(config)`` is a function of a key.

It asks gymnax for the environment by name and calls nothing but ``reset``, ``step`` with five values and the spaces. It
plays any action and learns nothing: that others learn on a world, rejax shows (``test_gymnax.py``).
"""

from collections.abc import Callable
from typing import Any

import gymnax
import jax
import jax.numpy as jnp
from jax import Array

CONFIG: dict[str, Any] = {"NUM_ENVS": 64, "NUM_STEPS": 16, "TOTAL_TIMESTEPS": 32_768, "ENV_NAME": "CartPole-v1"}


def make_train(config: dict[str, Any]) -> Callable[[Array], dict[str, Any]]:
    """The whole run as a function of a key; its result has ``runner_state`` and ``metrics``."""
    num_envs, num_steps = config["NUM_ENVS"], config["NUM_STEPS"]
    num_updates = config["TOTAL_TIMESTEPS"] // num_steps // num_envs
    env, env_params = gymnax.make(config["ENV_NAME"])
    num_actions = env.action_space(env_params).n

    def train(rng: Array) -> dict[str, Any]:
        rng, reset_rng = jax.random.split(rng)
        obs, env_state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(reset_rng, num_envs), env_params)
        assert obs.shape == (num_envs, *env.observation_space(env_params).shape)

        def env_step(carry: tuple[Any, ...], _: None) -> tuple[tuple[Any, ...], dict[str, Any]]:
            env_state, lengths, rng = carry
            rng, action_rng, step_rng = jax.random.split(rng, 3)
            actions = jax.random.randint(action_rng, num_envs, 0, num_actions)
            _, env_state, _, done, info = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
                jax.random.split(step_rng, num_envs), env_state, actions, env_params
            )
            info |= {"returned_episode_lengths": lengths + 1, "returned_episode": done}
            return (env_state, (lengths + 1) * (1 - done), rng), info

        def update(carry: tuple[Any, ...], _: None) -> tuple[tuple[Any, ...], dict[str, Any]]:
            return jax.lax.scan(env_step, carry, None, num_steps)

        start = env_state, jnp.zeros(num_envs, jnp.int32), rng
        runner_state, metrics = jax.lax.scan(update, start, None, num_updates)
        return {"runner_state": runner_state, "metrics": metrics}

    return train

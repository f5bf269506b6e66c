"""What PureJaxRL's ``ppo.py`` asks of an environment, to its interface: ``make_train(config)`` is a function of a key.

It asks gymnax for the environment by name and calls nothing but ``reset``, ``step`` with five values and the spaces. It
plays as an untrained policy does and learns nothing: that others learn on a world, rejax shows (``test_gymnax.py``).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnax
import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import struct
from jax import Array

CONFIG: dict[str, Any] = {"NUM_ENVS": 64, "NUM_STEPS": 16, "TOTAL_TIMESTEPS": 32_768, "ENV_NAME": "CartPole-v1"}


@struct.dataclass
class LogEnvState:
    env_state: Any
    episode_lengths: Array
    returned_episode_lengths: Array


class LogWrapper:
    """Lengths of the episodes that ended, in ``info``."""

    def __init__(self, env: Any) -> None:  # noqa: ANN401 - an environment
        self._env = env

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - an attribute of the environment
        return getattr(self._env, name)

    @partial(jax.jit, static_argnums=(0,))
    def reset(self, key: Array, params: Any = None) -> tuple[Array, LogEnvState]:  # noqa: ANN401
        obs, env_state = self._env.reset(key, params)
        return obs, LogEnvState(env_state, jnp.int32(0), jnp.int32(0))

    @partial(jax.jit, static_argnums=(0,))
    def step(self, key: Array, state: LogEnvState, action: Array, params: Any = None) -> tuple[Any, ...]:  # noqa: ANN401
        obs, env_state, reward, done, info = self._env.step(key, state.env_state, action, params)
        lengths = state.episode_lengths + 1
        returned = jnp.where(done, lengths, state.returned_episode_lengths)
        info |= {"returned_episode_lengths": returned, "returned_episode": done}
        return obs, LogEnvState(env_state, lengths * (1 - done), returned), reward, done, info


def make_train(config: dict[str, Any]) -> Callable[[Array], dict[str, Any]]:
    """The whole run as a function of a key; its result has ``runner_state`` and ``metrics``."""
    num_envs, num_steps = config["NUM_ENVS"], config["NUM_STEPS"]
    num_updates = config["TOTAL_TIMESTEPS"] // num_steps // num_envs
    env, env_params = gymnax.make(config["ENV_NAME"])
    env = LogWrapper(env)
    network = nn.Dense(env.action_space(env_params).n)

    def train(rng: Array) -> dict[str, Any]:
        rng, init_rng, reset_rng = jax.random.split(rng, 3)
        params = network.init(init_rng, jnp.zeros(env.observation_space(env_params).shape))
        obs, env_state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(reset_rng, num_envs), env_params)

        def env_step(carry: tuple[Any, ...], _: None) -> tuple[tuple[Any, ...], dict[str, Any]]:
            env_state, obs, rng = carry
            rng, action_rng, step_rng = jax.random.split(rng, 3)
            logits: Any = network.apply(params, obs)
            obs, env_state, _, _, info = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
                jax.random.split(step_rng, num_envs), env_state, jax.random.categorical(action_rng, logits), env_params
            )
            return (env_state, obs, rng), info

        def update(carry: tuple[Any, ...], _: None) -> tuple[tuple[Any, ...], dict[str, Any]]:
            return jax.lax.scan(env_step, carry, None, num_steps)

        runner_state, metrics = jax.lax.scan(update, (env_state, obs, rng), None, num_updates)
        return {"runner_state": runner_state, "metrics": metrics}

    return train

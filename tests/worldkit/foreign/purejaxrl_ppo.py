"""PPO in one file, as PureJaxRL has it, to its interface: ``make_train(config)`` is a function of a key.

It asks gymnax for the environment by name and calls nothing but ``reset``, ``step`` with five values and the spaces.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import distrax
import gymnax
import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]
from flax import linen as nn
from flax import struct
from flax.linen.initializers import constant, orthogonal
from flax.training.train_state import TrainState
from jax import Array

CONFIG: dict[str, Any] = {
    "LR": 1e-3,
    "NUM_ENVS": 64,
    "NUM_STEPS": 16,
    "TOTAL_TIMESTEPS": 32_768,
    "UPDATE_EPOCHS": 4,
    "NUM_MINIBATCHES": 4,
    "GAMMA": 0.99,
    "GAE_LAMBDA": 0.95,
    "CLIP_EPS": 0.2,
    "ENT_COEF": 0.01,
    "VF_COEF": 0.5,
    "MAX_GRAD_NORM": 0.5,
    "ENV_NAME": "CartPole-v1",
}


@struct.dataclass
class LogEnvState:
    env_state: Any
    episode_returns: Array
    episode_lengths: Array
    returned_episode_returns: Array
    returned_episode_lengths: Array


class LogWrapper:
    """Returns and lengths of the episodes that ended, in ``info``."""

    def __init__(self, env: Any) -> None:  # noqa: ANN401 - an environment
        self._env = env

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - an attribute of the environment
        return getattr(self._env, name)

    @partial(jax.jit, static_argnums=(0,))
    def reset(self, key: Array, params: Any = None) -> tuple[Array, LogEnvState]:  # noqa: ANN401
        obs, env_state = self._env.reset(key, params)
        return obs, LogEnvState(env_state, jnp.float32(0), jnp.int32(0), jnp.float32(0), jnp.int32(0))

    @partial(jax.jit, static_argnums=(0,))
    def step(self, key: Array, state: LogEnvState, action: Array, params: Any = None) -> tuple[Any, ...]:  # noqa: ANN401
        obs, env_state, reward, done, info = self._env.step(key, state.env_state, action, params)
        returns, lengths = state.episode_returns + reward, state.episode_lengths + 1
        state = LogEnvState(
            env_state=env_state,
            episode_returns=returns * (1 - done),
            episode_lengths=lengths * (1 - done),
            returned_episode_returns=jnp.where(done, returns, state.returned_episode_returns),
            returned_episode_lengths=jnp.where(done, lengths, state.returned_episode_lengths),
        )
        info["returned_episode_returns"] = state.returned_episode_returns
        info["returned_episode_lengths"] = state.returned_episode_lengths
        info["returned_episode"] = done
        return obs, state, reward, done, info


class ActorCritic(nn.Module):
    action_dim: int

    @nn.compact
    def __call__(self, x: Array) -> tuple[distrax.Categorical, Array]:
        def tower(size: int, scale: float) -> Array:
            hidden = x
            for _ in range(2):
                hidden = nn.tanh(nn.Dense(64, kernel_init=orthogonal(np.sqrt(2)), bias_init=constant(0.0))(hidden))
            return nn.Dense(size, kernel_init=orthogonal(scale), bias_init=constant(0.0))(hidden)

        return distrax.Categorical(logits=tower(self.action_dim, 0.01)), jnp.squeeze(tower(1, 1.0), axis=-1)


class Transition(NamedTuple):
    done: Array
    action: Array
    value: Array
    reward: Array
    log_prob: Array
    obs: Array
    info: dict[str, Any]


def make_train(config: dict[str, Any]) -> Callable[[Array], dict[str, Any]]:
    """The whole training as a function of a key; its result has ``runner_state`` and ``metrics``."""
    num_envs, num_steps = config["NUM_ENVS"], config["NUM_STEPS"]
    num_updates = config["TOTAL_TIMESTEPS"] // num_steps // num_envs
    env, env_params = gymnax.make(config["ENV_NAME"])
    env = LogWrapper(env)
    network = ActorCritic(env.action_space(env_params).n)
    apply: Callable[..., tuple[distrax.Categorical, Array]] = network.apply  # type: ignore[assignment]

    def train(rng: Array) -> dict[str, Any]:
        rng, init_rng, reset_rng = jax.random.split(rng, 3)
        params = network.init(init_rng, jnp.zeros(env.observation_space(env_params).shape))
        optimizer = optax.chain(optax.clip_by_global_norm(config["MAX_GRAD_NORM"]), optax.adam(config["LR"], eps=1e-5))
        train_state = TrainState.create(apply_fn=network.apply, params=params, tx=optimizer)
        obs, env_state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(reset_rng, num_envs), env_params)

        def env_step(carry: tuple[Any, ...], _: None) -> tuple[tuple[Any, ...], Transition]:
            train_state, env_state, last_obs, rng = carry
            rng, action_rng, step_rng = jax.random.split(rng, 3)
            pi, value = apply(train_state.params, last_obs)
            action, log_prob = pi.sample_and_log_prob(seed=action_rng)
            obs, env_state, reward, done, info = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
                jax.random.split(step_rng, num_envs), env_state, action, env_params
            )
            return (train_state, env_state, obs, rng), Transition(done, action, value, reward, log_prob, last_obs, info)

        def advantages_of(batch: Transition, last_value: Array) -> Array:
            def backwards(carry: tuple[Array, Array], step: Transition) -> tuple[tuple[Array, Array], Array]:
                advantage, next_value = carry
                delta = step.reward + config["GAMMA"] * next_value * (1 - step.done) - step.value
                advantage = delta + config["GAMMA"] * config["GAE_LAMBDA"] * (1 - step.done) * advantage
                return (advantage, step.value), advantage

            start = (jnp.zeros_like(last_value), last_value)
            return jax.lax.scan(backwards, start, batch, reverse=True)[1]

        def loss(params: Any, batch: Transition, advantages: Array, targets: Array) -> Array:  # noqa: ANN401 - a tree
            pi, value = apply(params, batch.obs)
            clip, ratio = config["CLIP_EPS"], jnp.exp(pi.log_prob(batch.action) - batch.log_prob)
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            actor = -jnp.minimum(ratio * advantages, jnp.clip(ratio, 1 - clip, 1 + clip) * advantages).mean()
            clipped = batch.value + jnp.clip(value - batch.value, -clip, clip)
            critic = 0.5 * jnp.maximum((value - targets) ** 2, (clipped - targets) ** 2).mean()
            return actor + config["VF_COEF"] * critic - config["ENT_COEF"] * pi.entropy().mean()

        def update(carry: tuple[Any, ...], _: None) -> tuple[tuple[Any, ...], dict[str, Any]]:
            (train_state, env_state, obs, rng), batch = jax.lax.scan(env_step, carry, None, num_steps)
            _, last_value = apply(train_state.params, obs)
            advantages = advantages_of(batch, last_value)
            info = batch.info
            samples = (batch._replace(info={}), advantages, advantages + batch.value)
            samples = jax.tree.map(lambda leaf: leaf.reshape(num_steps * num_envs, *leaf.shape[2:]), samples)

            def epoch(state: tuple[TrainState, Array], _: None) -> tuple[tuple[TrainState, Array], None]:
                train_state, rng = state
                rng, shuffle_rng = jax.random.split(rng)
                order = jax.random.permutation(shuffle_rng, num_steps * num_envs)
                minibatches = jax.tree.map(
                    lambda leaf: leaf[order].reshape(config["NUM_MINIBATCHES"], -1, *leaf.shape[1:]), samples
                )

                def minibatch(train_state: TrainState, part: tuple[Any, ...]) -> tuple[TrainState, None]:
                    return train_state.apply_gradients(grads=jax.grad(loss)(train_state.params, *part)), None

                return (jax.lax.scan(minibatch, train_state, minibatches)[0], rng), None

            (train_state, rng), _ = jax.lax.scan(epoch, (train_state, rng), None, config["UPDATE_EPOCHS"])
            return (train_state, env_state, obs, rng), info

        runner_state, metrics = jax.lax.scan(update, (train_state, env_state, obs, rng), None, num_updates)
        return {"runner_state": runner_state, "metrics": metrics}

    return train

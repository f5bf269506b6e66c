"""How many steps a second a world's JAX engine makes with random valid actions."""

from itertools import islice
from typing import NamedTuple

import jax
import jax.numpy as jnp

from worldkit.bench.records import Record, median_and_spread
from worldkit.bench.timing import calls_per_second, compile_program
from worldkit.purejaxrl.train_env import State, TrainEnv

STEPS_PER_CALL = 128


class Play(NamedTuple):
    """What one step hands to the next.

    Attributes:
        states: the games, with a leading axis of num_envs.
        key: JAX key of the players' choices (games draw from their own seeds, not from it).
        seen: float32 (num_envs,), a product of every observation and the reward, so that XLA must compute them.
    """

    states: State
    key: jax.Array
    seen: jax.Array


def random_valid_actions(key: jax.Array, masks: jax.Array) -> jax.Array:
    """One uniform valid action per game.

    Args:
        key: a JAX key.
        masks: bool (num_envs, actions), each with at least one true entry.

    Returns:
        int32 (num_envs,).
    """
    valid_so_far = jnp.cumsum(masks, axis=-1, dtype=jnp.int32)
    draws = jax.random.uniform(key, masks.shape[:1])
    wanted = jnp.floor(draws * valid_so_far[:, -1]).astype(jnp.int32)
    return jnp.argmax(valid_so_far > wanted[:, None], axis=-1).astype(jnp.int32)


def measure(env: TrainEnv, num_envs: int, repetitions: int) -> list[Record]:
    """``env_steps_per_second``: steps of all games a second, observations and rewards computed and consumed.

    Consumed means multiplied by a vector, a policy's first layer in little: every observation is written to
    memory and read again. ``peak_bytes`` is XLA's plan for the compiled scan.
    """

    def play(carry: Play) -> Play:
        """Of every game ``STEPS_PER_CALL`` times: mask, valid action, step with auto-reset, observation, reward."""

        def step(carry: Play, _: None) -> tuple[Play, None]:
            key, drawn = jax.random.split(carry.key)
            actions = random_valid_actions(drawn, jax.vmap(env.mask)(carry.states))
            stepped = jax.vmap(env.step)(carry.states, actions)
            observed = jax.vmap(env.observe)(stepped.state).reshape(num_envs, -1)
            weights = jnp.linspace(0.0, 1.0, env.observation_size)
            return Play(stepped.state, key, carry.seen + observed @ weights + stepped.reward), None

        return jax.lax.scan(step, carry, None, length=STEPS_PER_CALL)[0]

    seeds = env.initial_seeds(0, num_envs)
    carry = Play(jax.jit(jax.vmap(env.reset))(seeds), jax.random.key(0), jnp.zeros(num_envs, jnp.float32))
    program = compile_program(play, carry)
    calls = islice(calls_per_second(program.call, carry), repetitions)
    value, spread = median_and_spread([each * STEPS_PER_CALL * num_envs for each in calls])
    return [
        Record(
            name="env_steps_per_second",
            value=value,
            unit="steps/s",
            num_envs=num_envs,
            spread=spread,
            compile_seconds=program.compile_seconds,
            trace_seconds=program.trace_seconds,
            peak_bytes=program.peak_bytes,
        )
    ]

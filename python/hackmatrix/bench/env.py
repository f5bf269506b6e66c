"""How many steps a second the JAX environment makes with random valid actions."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from hackmatrix import jax_env
from hackmatrix.bench.records import Record, median_and_spread
from hackmatrix.bench.timing import calls_per_second, compile_program

STEPS_PER_CALL = 128


class Play(NamedTuple):
    """What one step hands to the next.

    Attributes:
        states: the games, a State with a leading axis of num_envs.
        key: JAX key of the players' choices (the games draw by R1–R6, not from it).
        seen: float32 (num_envs,), a product of every observation and the reward, so that XLA must compute them.
    """

    states: jax_env.State
    key: jax.Array
    seen: jax.Array


def random_valid_actions(key: jax.Array, masks: jax.Array) -> jax.Array:
    """One uniform valid action per game.

    Args:
        key: a JAX key.
        masks: bool (num_envs, 28), each with at least one true entry (rules M1–M3).

    Returns:
        int32 (num_envs,).
    """
    valid_so_far = jnp.cumsum(masks, axis=-1, dtype=jnp.int32)
    draws = jax.random.uniform(key, masks.shape[:1])
    wanted = jnp.floor(draws * valid_so_far[:, -1]).astype(jnp.int32)
    return jnp.argmax(valid_so_far > wanted[:, None], axis=-1).astype(jnp.int32)


def play(carry: Play) -> Play:
    """``STEPS_PER_CALL`` steps of every game: mask, random valid action, step with auto-reset, observation, reward."""

    def step(carry: Play, _: None) -> tuple[Play, None]:
        key, drawn = jax.random.split(carry.key)
        actions = random_valid_actions(drawn, jax.vmap(jax_env.mask)(carry.states))
        states, result, _final = jax.vmap(jax_env.step_auto_reset)(carry.states, actions)
        rewards = jax.vmap(jax_env.reward)(result.components)
        observed = jax.vmap(jax_env.observe)(states) @ jnp.linspace(0.0, 1.0, jax_env.OBSERVATION_SIZE)
        return Play(states, key, carry.seen + observed + rewards), None

    return jax.lax.scan(step, carry, None, length=STEPS_PER_CALL)[0]


def measure(num_envs: int, repetitions: int) -> list[Record]:
    """``env_steps_per_second``: steps of all games a second, observations and rewards computed and consumed.

    Consumed means multiplied by a vector, a policy's first layer in little: every observation is written to
    memory and read again. ``peak_bytes`` is XLA's plan for the compiled scan.
    """
    seeds = jax_env.trainer_seeds(jnp.asarray(jax_env.seed_pair(0)), num_envs)
    carry = Play(jax.jit(jax.vmap(jax_env.reset))(seeds), jax.random.key(0), jnp.zeros(num_envs, jnp.float32))
    program = compile_program(play, carry)
    samples = [calls * STEPS_PER_CALL * num_envs for calls in calls_per_second(program.call, carry, repetitions)]
    value, spread = median_and_spread(samples)
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

"""Benchmark of a world's JAX engine with random valid actions, in steps per second."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from rlparity import World
from rlworldkit.bench.records import Record
from rlworldkit.bench.timing import TimedProgram, alone, compile_program
from rlworldkit.jax.engine_backend import jax_env_of
from rlworldkit.jax.env import JaxEnv, State
from rlworldkit.jax.switches import training_switches
from rlworldkit.ppo import parallel

STEPS_PER_CALL = 128
_INDEXING = re.compile(r'(?:"stablehlo\.| )(gather|scatter)"?\(')


class Play(NamedTuple):
    """Carry from one step to the next: games, JAX's key for drawing actions, and what was seen.

    seen: float32 (num_envs,), a product of every observation and the reward, so that XLA must compute them.
    """

    states: State
    key: jax.Array
    seen: jax.Array


def random_valid_actions(key: jax.Array, masks: jax.Array) -> jax.Array:
    """Draw a uniform valid action per game, int32 (n,), given masks, bool (n, actions), with at least one true each."""
    valid_so_far = jnp.cumsum(masks, axis=-1, dtype=jnp.int32)
    draws = jax.random.uniform(key, masks.shape[:1])
    wanted = jnp.floor(draws * valid_so_far[:, -1]).astype(jnp.int32)
    return jnp.argmax(valid_so_far > wanted[:, None], axis=-1).astype(jnp.int32)


def one_step(env: JaxEnv, mesh: Mesh | None = None, *, compact: bool = False) -> Callable[[Play], Play]:
    """Make a function for one step of all games: mask, valid action, step with auto-reset, observation, reward."""
    show = env.compact if compact else env.observe

    def step(play: Play) -> Play:
        key, drawn = jax.random.split(play.key)
        actions = random_valid_actions(drawn, parallel.over_games(env.mask, mesh)(play.states))
        stepped = parallel.over_games(env.step_autoreset, mesh)(play.states, actions)
        shown = jax.tree.leaves(parallel.over_games(show, mesh)(stepped.state))
        observed = jnp.concatenate([leaf.reshape(len(actions), -1).astype(jnp.float32) for leaf in shown], axis=1)
        weights = jnp.linspace(0.0, 1.0, observed.shape[1])
        return Play(stepped.state, key, play.seen + observed @ weights + stepped.reward)

    return step


def new_games(env: JaxEnv, num_envs: int, mesh: Mesh | None = None) -> Play:
    """New games before their first step, on the devices of ``mesh``."""

    def start(seeds: jax.Array) -> Play:
        states = parallel.over_games(env.reset, mesh)(seeds)
        return _placed(Play(states, jax.random.key(0), jnp.zeros(num_envs, jnp.float32)), mesh)

    return jax.jit(start)(env.initial_seeds(0, num_envs))


def measure(world: World, num_envs: int, repetitions: int) -> Iterator[Record]:
    """Measure ``env_steps_per_second``: steps of all games per second, with observations and rewards consumed.

    Consumed means multiplied by a vector, like a tiny first layer of a policy: every observation is written to
    memory and read again. ``env_compact_steps_per_second`` is the same with observations as rollouts store them. The
    games are split over all devices. ``peak_bytes`` is the memory that XLA plans for the compiled scan. Raises
    UsageError if the games cannot be split evenly.
    """
    env = jax_env_of(world)
    for name, compact in (("env_steps_per_second", False), ("env_compact_steps_per_second", True)):
        yield alone(name, num_envs, compiled(env, num_envs, compact=compact), STEPS_PER_CALL * num_envs, repetitions)


@training_switches()
def compiled(env: JaxEnv, num_envs: int, *, compact: bool = False) -> TimedProgram[Play]:
    """Compile a program of ``STEPS_PER_CALL`` steps of every game; raises UsageError as ``measure`` does."""
    mesh = parallel.mesh_of_all_devices(num_envs)
    step = one_step(env, mesh, compact=compact)

    def play(carry: Play) -> Play:
        return _placed(jax.lax.scan(lambda each, _: (step(each), None), carry, None, length=STEPS_PER_CALL)[0], mesh)

    return compile_program(play, new_games(env, num_envs, mesh))


@training_switches()
def step_operations(env: JaxEnv) -> dict[str, int]:
    """Count the ``gather`` and ``scatter`` operations, which are slow on TPUs, in the StableHLO of one step."""
    states = jax.eval_shape(jax.vmap(env.reset), env.initial_seeds(0, 1))
    key, seen = jax.eval_shape(lambda: (jax.random.key(0), jnp.zeros(1, jnp.float32)))
    return count_operations(jax.jit(one_step(env)).lower(Play(states, key, seen)).as_text())


def count_operations(program: str) -> dict[str, int]:
    """Count ``gather`` and ``scatter`` operations in the text of a program, StableHLO or HLO."""
    found = _INDEXING.findall(program)
    return {name: found.count(name) for name in ("gather", "scatter")}


def _placed(play: Play, mesh: Mesh | None) -> Play:
    """Split the games over the devices, so that a program's output can be its next input."""
    return play._replace(states=parallel.split(play.states, mesh), seen=parallel.split(play.seen, mesh))

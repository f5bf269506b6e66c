"""Benchmark of the trainer in steps per second."""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rlparity import World
from rlworldkit.bench.records import Record
from rlworldkit.bench.timing import TimedProgram, alone, compile_program
from rlworldkit.jax.engine_backend import jax_env_of
from rlworldkit.jax.env import JaxEnv
from rlworldkit.jax.switches import training_switches
from rlworldkit.ppo import parallel
from rlworldkit.ppo.config import TrainConfig, auto_scale_for_batch_size
from rlworldkit.ppo.ppo import UpdateStats
from rlworldkit.ppo.program import make_train
from rlworldkit.ppo.state import RunnerState, init_runner, shardings_of


class TrainingCarry(NamedTuple):
    """Carry from one update to the next, with the metrics of the last update, so that XLA must compute them.

    num_updates (int32, always 1) and prices are arguments as in a real run, not constants that XLA could use.
    """

    runner: RunnerState
    stats: UpdateStats
    num_updates: jax.Array
    prices: jax.Array


def measure(world: World, kind: type[TrainConfig], num_envs: int, repetitions: int) -> Iterator[Record]:
    """Measure ``train_steps_per_second_NETWORK`` of each network: steps of all games over whole PPO updates.

    An update is rollout, advantages, all epochs and metrics; minibatches and epochs follow the batch size as in the
    command ``train``. ``peak_bytes`` is the memory that XLA plans for the compiled update.
    """
    env, config = jax_env_of(world), one_update(kind(num_envs=num_envs))
    for network in env.networks():
        sized = dataclasses.replace(config, network=network)
        name = f"train_steps_per_second_{network}"
        yield alone(name, sized.num_envs, compiled(env, sized), sized.batch_size, repetitions)


def one_update(config: TrainConfig) -> TrainConfig:
    """Adapt settings to one update at a time, with minibatches and epochs that follow from the batch."""
    return auto_scale_for_batch_size(dataclasses.replace(config, log_interval=1))


@training_switches()
def compiled(env: JaxEnv, config: TrainConfig) -> TimedProgram[TrainingCarry]:
    """Compile one update as a program; raises UsageError if the games cannot be split over the devices."""
    mesh = parallel.mesh_of_all_devices(config.num_envs)
    train = make_train(config, env, mesh)
    runner, num_updates = init_runner(config, env), jnp.int32(1)
    if mesh is not None:
        runner = jax.tree.map(parallel.placed, runner, shardings_of(runner, mesh))
    stats_shape = jax.eval_shape(train, runner, num_updates)[1]
    stats = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), stats_shape)

    def update(carry: TrainingCarry) -> TrainingCarry:
        runner, stats = train(carry.runner, carry.num_updates, config.num_updates, carry.prices)
        return carry._replace(runner=runner, stats=stats)

    return compile_program(update, TrainingCarry(runner, stats, num_updates, jnp.asarray(env.prices)))

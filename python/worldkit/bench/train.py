"""How many steps a second the trainer plays and learns from."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp

from worldkit.bench.records import Record
from worldkit.bench.timing import calls_per_second, compile_program, program_record
from worldkit.purejaxrl.config import TrainConfig, auto_scale_for_batch_size
from worldkit.purejaxrl.rollout import RunnerState
from worldkit.purejaxrl.train_env import TrainEnv
from worldkit.purejaxrl.update import UpdateStats, init_runner, make_train


class Training(NamedTuple):
    """What one update hands to the next.

    Attributes:
        runner: network, optimizer and games.
        stats: the metrics of the update before, so that XLA must compute them.
        num_updates: int32, always 1; an argument as in a real run, not a constant that XLA could use.
    """

    runner: RunnerState
    stats: UpdateStats
    num_updates: jax.Array


def measure(env: TrainEnv, config: TrainConfig, repetitions: int) -> list[Record]:
    """``train_steps_per_second``: steps of all games a second over whole PPO updates with settings such as ``config``.

    An update is rollout, advantages, all epochs and metrics; minibatches and epochs follow the batch size as in
    the command ``train``. ``peak_bytes`` is XLA's plan for the compiled update.
    """
    config = auto_scale_for_batch_size(dataclasses.replace(config, log_interval=1))
    train = make_train(config, env)
    runner, num_updates = init_runner(config, env), jnp.int32(1)
    stats_shape = jax.eval_shape(train, runner, num_updates)[1]
    stats = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), stats_shape)

    def update(carry: Training) -> Training:
        runner, stats = train(carry.runner, carry.num_updates)
        return Training(runner, stats, carry.num_updates)

    carry = Training(runner, stats, num_updates)
    program = compile_program(update, carry)
    samples = [calls * config.batch_size for calls in calls_per_second(program.call, carry, repetitions)]
    return [program_record("train_steps_per_second", config.num_envs, program, samples)]

"""How many steps a second the trainer plays and learns from, and how many where the world costs nothing."""

import dataclasses
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import jax
import jax.numpy as jnp

from worldkit.bench.nothing import NothingEnv
from worldkit.bench.records import Record, median_and_spread, plain_record
from worldkit.bench.timing import Program, calls_per_second, compile_program
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


def measure(env: TrainEnv, config: TrainConfig, repetitions: int) -> Iterator[Record]:
    """For each network ``train_steps_per_second_NETWORK``, ``train_ceiling_steps_per_second_NETWORK``, and their share.

    The first is steps of all games a second over whole PPO updates with settings such as ``config``. An update is
    rollout, advantages, all epochs and metrics; minibatches and epochs follow the batch size as in the command
    ``train``. The ceiling is the same in an environment that costs nothing (``NothingEnv``). The samples of both
    alternate, and ``train_share_of_ceiling_NETWORK`` is that of neighbours. ``peak_bytes`` is XLA's plan for the
    compiled update.
    """
    config = auto_scale_for_batch_size(dataclasses.replace(config, log_interval=1))
    for network in env.networks:
        yield from _measure(env, dataclasses.replace(config, network=network), repetitions)


def _measure(env: TrainEnv, config: TrainConfig, repetitions: int) -> list[Record]:
    compiled = [_compiled(each, config) for each in (env, NothingEnv(env))]
    calls = zip(*(calls_per_second(program.call, carry) for program, carry in compiled), strict=True)
    samples = list(islice(calls, repetitions))
    names = ("train_steps_per_second", "train_ceiling_steps_per_second")
    records = [
        _record(f"{name}_{config.network}", config, program, [sample[which] for sample in samples])
        for which, (name, (program, _)) in enumerate(zip(names, compiled, strict=True))
    ]
    share = [real / ceiling for real, ceiling in samples]
    return [*records, plain_record(f"train_share_of_ceiling_{config.network}", config.num_envs, share, unit="")]


def _compiled(env: TrainEnv, config: TrainConfig) -> tuple[Program[Training], Training]:
    """One update as a compiled program, and what it gets first."""
    train = make_train(config, env)
    runner, num_updates = init_runner(config, env), jnp.int32(1)
    stats_shape = jax.eval_shape(train, runner, num_updates)[1]
    stats = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), stats_shape)

    def update(carry: Training) -> Training:
        runner, stats = train(carry.runner, carry.num_updates)
        return Training(runner, stats, carry.num_updates)

    carry = Training(runner, stats, num_updates)
    return compile_program(update, carry), carry


def _record(name: str, config: TrainConfig, program: Program[Training], calls: list[float]) -> Record:
    value, spread = median_and_spread([each * config.batch_size for each in calls])
    return Record(
        name=name,
        value=value,
        unit="steps/s",
        num_envs=config.num_envs,
        spread=spread,
        compile_seconds=program.compile_seconds,
        trace_seconds=program.trace_seconds,
        peak_bytes=program.peak_bytes,
    )

"""The compiled programs that several tests share."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest

from rlworldkit.jax.env import JaxEnv
from rlworldkit.ppo.checkpoints import Log, LoopState
from rlworldkit.ppo.config import ARCHIVE, TrainConfig
from rlworldkit.ppo.loop import Saver, TrainJob, training_loop
from rlworldkit.ppo.metrics import RolloutMetrics
from rlworldkit.ppo.ppo import collect_rollout, samples_of
from rlworldkit.ppo.program import CompiledTraining, TrainFunction, compile_training, run_loops
from rlworldkit.ppo.state import RunnerState, Samples, TrainState, Transition, init_runner
from rlworldkit.runs.run import Progress, Run
from rlworldkit.runs.stop import StopRequest

from .orchards import Levelled, PackedOrchard

SMALL = TrainConfig(
    num_envs=16,
    num_steps=24,
    total_timesteps=16 * 24 * 60,
    learning_rate=3e-3,
    num_minibatches=4,
    update_epochs=4,
    ent_coef=0.01,
    hidden_dim=32,
    num_layers=1,
    log_interval=20,
    seed=3,
)
SMALLEST = TrainConfig(
    num_envs=4,
    num_steps=6,
    total_timesteps=24,
    num_minibatches=2,
    update_epochs=3,
    learning_rate=0.05,
    hidden_dim=8,
    num_layers=1,
    log_interval=1,
    seed=3,
)
LEVELLED = dataclasses.replace(
    SMALL,
    total_timesteps=8 * SMALL.batch_size,
    log_interval=4,
    curriculum=ARCHIVE,
    curriculum_share=0.25,
    advantage="levels",
)
"""Four of the 16 games are the curriculum's."""
LIMIT = 5
"""Cuts most games of Orchard and not all."""


class Rollout(NamedTuple):
    """A rollout with the state that it started from and the one that it led to."""

    config: TrainConfig
    env: JaxEnv
    before: RunnerState
    after: RunnerState
    transitions: Transition
    metrics: RolloutMetrics


def run_training(
    train: TrainFunction,
    start: LoopState,
    config: TrainConfig,
    env: JaxEnv,
    *,
    write: Callable[[Mapping[str, float]], None] = lambda row: None,
    stop: StopRequest | None = None,
    saver: Saver | None = None,
) -> LoopState:
    """Train from a state; ``write`` takes each row."""
    job = TrainJob(config, env, Run(report=write, stop=stop))
    (result,) = run_loops(train, [training_loop(job, start, saver)], config, env.prices[None])
    if isinstance(result, Exception):
        raise result
    return result


@pytest.fixture(scope="session")
def orchard() -> PackedOrchard:
    return PackedOrchard()


@pytest.fixture(scope="session")
def trainer(orchard: PackedOrchard) -> CompiledTraining:
    return compile_training(SMALL, orchard)


@pytest.fixture(scope="session")
def levelled() -> CompiledTraining:
    return compile_training(LEVELLED, Levelled())


@pytest.fixture(scope="session")
def levelled_run(levelled: CompiledTraining) -> tuple[LoopState, list[Mapping[str, float]]]:
    """A run with an archive at its end, and its two rows."""
    rows: list[Mapping[str, float]] = []
    start = LoopState(levelled.runners[0], Progress(), Log())
    return run_training(levelled.train, start, LEVELLED, Levelled(), write=rows.append), rows


@pytest.fixture(scope="session")
def rollout(orchard: PackedOrchard) -> Rollout:
    """Of a policy with firm opinions: a new network's is so near to uniform that no mistake would show."""
    config = dataclasses.replace(SMALL, max_steps=LIMIT)
    before = init_runner(config, orchard)
    layers = before.train_state.params["params"]
    firm = {**layers, "policy": jax.tree.map(lambda leaf: 1000.0 * leaf, layers["policy"])}
    before = before._replace(train_state=before.train_state.replace(params={"params": firm}))
    collect: Callable[[Any], Any] = jax.jit(lambda runner: collect_rollout(runner, config, orchard))
    return Rollout(config, orchard, before, *collect(before))


@pytest.fixture(scope="session")
def batch(orchard: PackedOrchard) -> tuple[TrainState, Samples]:
    """A new network, and the samples that it plays."""
    start = init_runner(SMALLEST, orchard)

    @jax.jit
    def play(runner: RunnerState) -> Samples:
        after, transitions, _ = collect_rollout(runner, SMALLEST, orchard)
        return samples_of(after, transitions, SMALLEST, orchard)

    return start.train_state, play(start)


@pytest.fixture(scope="session")
def key() -> jax.Array:
    return jax.random.key(jnp.uint32(7))

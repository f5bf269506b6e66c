"""The compiled programs that several tests share."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest

from hackmatrix.jax_training import HackMatrixJaxEnv
from worldkit.jax.env import JaxEnv
from worldkit.ppo.config import TrainConfig
from worldkit.ppo.loop import CompiledTraining, compile_training
from worldkit.ppo.masked_ppo import Transition
from worldkit.ppo.rollout import RolloutMetrics, RunnerState, collect_rollout
from worldkit.ppo.update import init_runner

from .free_engine import FreeEnv

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
# Games of the free engine last 3 to 7 actions, so this limit cuts some and not others.
LIMIT = 5


class Rollout(NamedTuple):
    """A rollout with the state that it started from and the one that it led to."""

    config: TrainConfig
    env: JaxEnv
    before: RunnerState
    after: RunnerState
    transitions: Transition
    metrics: RolloutMetrics


def roll_out(config: TrainConfig, env: JaxEnv) -> Rollout:
    """A rollout of a policy with firm opinions: a new network's is so near to uniform that no mistake would show."""
    before = init_runner(config, env)
    state = before.train_state
    layers = state.params["params"]
    firm = {**layers, "policy": jax.tree.map(lambda leaf: 1000.0 * leaf, layers["policy"])}
    before = before._replace(train_state=state.replace(params={"params": firm}))
    collect: Callable[[Any], Any] = jax.jit(lambda runner: collect_rollout(runner, config, env))
    return Rollout(config, env, before, *collect(before))


@pytest.fixture(scope="session")
def free_env() -> FreeEnv:
    return FreeEnv()


@pytest.fixture(scope="session")
def trainer(free_env: FreeEnv) -> CompiledTraining:
    return compile_training(SMALL, free_env)


@pytest.fixture(scope="session")
def rollout(free_env: FreeEnv) -> Rollout:
    return roll_out(SMALL, free_env)


@pytest.fixture(scope="session")
def truncated_rollout(free_env: FreeEnv) -> Rollout:
    return roll_out(dataclasses.replace(SMALL, max_steps=LIMIT), free_env)


@pytest.fixture(scope="session")
def game_rollout() -> Rollout:
    """A rollout of the game itself, in which episodes end by death and by the time limit."""
    config = TrainConfig(num_envs=16, num_steps=64, hidden_dim=32, num_layers=2, num_minibatches=4, max_steps=40)
    return roll_out(config, HackMatrixJaxEnv())


@pytest.fixture(scope="session")
def key() -> jax.Array:
    return jax.random.key(jnp.uint32(7))

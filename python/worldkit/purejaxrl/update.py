"""Whole PPO updates as one compiled function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import Mesh, NamedSharding

from parity.errors import UsageError
from worldkit.jaxkit.env import JaxEnv, State
from worldkit.purejaxrl import curriculum, parallel
from worldkit.purejaxrl.config import TrainConfig
from worldkit.purejaxrl.masked_ppo import LossStats, Samples, make_optimizer, ppo_loss
from worldkit.purejaxrl.rollout import Learner, RolloutMetrics, RunnerState, collect_rollout, samples_of


class UpdateStats(NamedTuple):
    """The metrics of one update: losses averaged over its gradient steps, and those of its rollout."""

    loss: LossStats
    rollout: RolloutMetrics


# train(runner, num_updates)
TrainFunction = Callable[[RunnerState, Array], tuple[RunnerState, UpdateStats]]
Batch = Any
"""What is learned from, a pytree of arrays with a leading axis: ``Samples``, unless somebody learns from less."""
Stats = Any
"""What a gradient step says of itself, a pytree of arrays."""
GradientStep = Callable[[Learner, Batch], tuple[Learner, Stats]]
"""One gradient step on a minibatch."""


def init_runner(config: TrainConfig, env: JaxEnv, games: State | None = None) -> RunnerState:
    """A fresh network and a new game in every slot; a pure function of ``config.seed``.

    ``games`` are these new games where somebody has made them.
    Raises UsageError for a network or a curriculum that the world does not have.
    """
    from flax.training.train_state import TrainState  # here, where Flax's networks are made: it takes long to import

    from worldkit.purejaxrl.networks import make_network

    curriculum.check(config, env)
    networks = env.networks()
    if config.network not in networks:
        raise UsageError(f"network must be {' or '.join(networks)}, got {config.network}.")
    low, high = config.seed & 0xFFFFFFFF, config.seed >> 32
    network_key, run_key = jax.random.split(jax.random.fold_in(jax.random.key(low), high))
    network = make_network(
        config.network,
        networks[config.network],
        env.num_actions,
        config.hidden_dim,
        config.num_layers,
        config.dtype,
        config.value_head,
        len(env.observation_shape),
    )
    end = None if config.learning_rate_end is None else (config.learning_rate_end, config.num_gradient_steps)
    optimizer = make_optimizer(config.learning_rate, config.max_grad_norm, end)
    params = jax.jit(network.init)(network_key, jnp.zeros((1, *env.observation_shape)))
    if games is None:
        games = jax.jit(jax.vmap(env.reset))(jnp.asarray(env.initial_seeds(config.seed, config.num_envs)))
    return RunnerState(
        train_state=TrainState.create(apply_fn=network.apply, params=params, tx=optimizer),
        env_state=games,
        episode_steps=jnp.zeros(config.num_envs, jnp.int32),
        episode_return=jnp.zeros(config.num_envs),
        key=run_key,
        event_counts={name: jnp.zeros(config.num_envs, jnp.int32) for name in env.counted_events},
        archive=curriculum.empty_archive(config, env, games),
    )


def make_train(config: TrainConfig, env: JaxEnv, mesh: Mesh | None = None) -> jax.stages.Wrapped:
    """Return the jitted ``train(runner, num_updates)``, a ``TrainFunction``: that many whole updates in one call.

    ``num_updates`` (int32, 1 to ``config.log_interval``) is an ordinary argument, so a shorter last
    call needs no second compilation. The stats have a leading axis of ``log_interval``, of which
    the first ``num_updates`` entries count. Raises UsageError on an impossible configuration.
    """
    config = config.validated()

    # Jitted, so that learning its shapes and calling it share one trace.
    @jax.jit
    def update(runner: RunnerState) -> tuple[RunnerState, UpdateStats]:
        return _update(runner, config, env, mesh)

    def train(runner: RunnerState, num_updates: Array) -> tuple[RunnerState, UpdateStats]:
        def body(index: Array, carry: tuple[RunnerState, UpdateStats]) -> tuple[RunnerState, UpdateStats]:
            runner, history = carry
            runner, stats = update(runner)
            return runner, jax.tree.map(lambda past, new: past.at[index].set(new), history, stats)

        _, shapes = jax.eval_shape(update, runner)
        history = jax.tree.map(lambda leaf: jnp.zeros((config.log_interval, *leaf.shape), leaf.dtype), shapes)
        runner, history = jax.lax.fori_loop(0, num_updates, body, (runner, history))
        if mesh is not None:
            runner = jax.lax.with_sharding_constraint(runner, shardings_of(runner, mesh))
        return runner, history

    return jax.jit(train)


def shardings_of(runner: RunnerState, mesh: Mesh) -> RunnerState:
    """Where each leaf of a state, or of its shapes, lies: games are split over ``mesh``, all else is on all devices."""
    whole, split = (NamedSharding(mesh, spec) for spec in (parallel.WHOLE, parallel.SPLIT))
    everywhere: RunnerState = jax.tree.map(lambda leaf: whole, runner)
    of_games = {
        name: getattr(runner, name) for name in ("env_state", "episode_steps", "episode_return", "event_counts")
    }
    return everywhere._replace(**jax.tree.map(lambda leaf: split, of_games))


def _update(
    runner: RunnerState, config: TrainConfig, env: JaxEnv, mesh: Mesh | None
) -> tuple[RunnerState, UpdateStats]:
    """One PPO update: rollout, GAE, ``update_epochs`` passes."""
    runner, transitions, metrics = collect_rollout(runner, config, env, mesh)
    samples = samples_of(runner, transitions, config, env, mesh)
    key, epochs_key = jax.random.split(runner.key)

    # several devices split the samples in any order, and only an encoder makes use of it
    can_sort = mesh is None and env.networks()[config.network] is not None
    sort_key = env.sort_key(samples.transition.obs) if can_sort else None
    learn = partial(_gradient_step, env=env, config=config, is_sorted=sort_key is not None)

    def epoch(train_state: Learner, epoch_key: Array) -> tuple[Learner, LossStats]:
        return update_epoch(train_state, learn, samples, epoch_key, config, mesh, sort_key)

    epoch_keys = jax.random.split(epochs_key, config.update_epochs)
    train_state, losses = jax.lax.scan(epoch, runner.train_state, epoch_keys)
    return runner._replace(train_state=train_state, key=key), UpdateStats(jax.tree.map(jnp.mean, losses), metrics)


def _gradient_step(
    train_state: Learner, minibatch: Samples, *, env: JaxEnv, config: TrainConfig, is_sorted: bool
) -> tuple[Learner, LossStats]:
    gradient = jax.grad(ppo_loss, has_aux=True)
    grads, stats = gradient(train_state.params, train_state.apply_fn, env.expand, minibatch, config, is_sorted)
    return train_state.apply_gradients(grads=grads), stats


def update_epoch(
    learner: Learner,
    learn: GradientStep,
    batch: Batch,
    key: Array,
    config: TrainConfig,
    mesh: Mesh | None = None,
    sort_key: Array | None = None,
) -> tuple[Learner, Stats]:
    """One pass over ``batch`` in shuffled minibatches; stats are their means.

    Each minibatch is sorted by ``sort_key``, int32 (batch,), where there is one.
    """

    def on_minibatch(learner: Learner, indices: Array) -> tuple[Learner, Stats]:
        return learn(learner, parallel.split(jax.tree.map(lambda leaf: leaf[indices], batch), mesh))

    order = jax.random.permutation(key, config.batch_size).reshape(config.num_minibatches, config.minibatch_size)
    if sort_key is not None:
        order = jnp.take_along_axis(order, jnp.argsort(sort_key[order], axis=1), axis=1)
    learner, stats = jax.lax.scan(on_minibatch, learner, order)
    return learner, jax.tree.map(partial(jnp.mean, axis=0), stats)

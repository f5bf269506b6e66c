"""Whole PPO updates as one compiled function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.typing import ArrayLike

from rlparity.errors import UsageError
from rlworldkit.jax.env import JaxEnv, State
from rlworldkit.ppo import curriculum, parallel
from rlworldkit.ppo.config import ARCHIVE, BATCH, LEVELS, NO_CURRICULUM, TrainConfig
from rlworldkit.ppo.masked_ppo import (
    EpisodeInfo,
    LossStats,
    Rates,
    Samples,
    Transition,
    optimizer_of,
    ppo_loss,
    rates_at,
    scaled_advantage,
)
from rlworldkit.ppo.params import architecture_for
from rlworldkit.ppo.rollout import RolloutMetrics, RunnerState, TrainState, collect_rollout, samples_of
from rlworldkit.ppo.value_heads import FIRST_SCALE, POPART, rescaled


class UpdateStats(NamedTuple):
    """The metrics of one update: losses averaged over its gradient steps, and those of its rollout.

    episodes: the rollout's episodes, (steps, games), where the environment has ``counted_events``.
    """

    loss: LossStats
    rollout: RolloutMetrics
    episodes: EpisodeInfo | None = None


# train(runner, num_updates[, updates_of_run[, prices]])
TrainFunction = Callable[..., tuple[RunnerState, UpdateStats]]
GradientStep = Callable[[TrainState, Samples], tuple[TrainState, LossStats]]
"""One gradient step on a minibatch."""
_LEAST_VARIANCE = 1e-12


def init_runner(config: TrainConfig, env: JaxEnv, games: State | None = None) -> RunnerState:
    """A fresh network and a new game in every slot; a pure function of ``config.seed``.

    ``games`` are these new games where somebody has made them.
    Raises UsageError for a network, a curriculum or privileges that the world does not have.
    """
    from rlworldkit.ppo.networks import network_for  # here, where one is made: Flax takes long to import

    networks = env.networks()
    curricula = (NO_CURRICULUM, *([ARCHIVE] if env.levels else []), *env.curricula())
    if config.curriculum != NO_CURRICULUM and not set(config.curricula) <= set(curricula[1:]):
        raise UsageError(f"curriculum must be {' or '.join(curricula)}, got {config.curriculum}.")
    if config.network not in networks:
        raise UsageError(f"network must be {' or '.join(networks)}, got {config.network}.")
    if config.advantage == LEVELS and not env.levels:
        raise UsageError(f"{env.name} has no levels to scale advantages by: choose another --advantage.")
    if config.privileged_critic and not env.num_privileges:
        raise UsageError(f"{env.name} has no privileges that a critic could read: leave --privileged-critic out.")
    low, high = config.seed & 0xFFFFFFFF, config.seed >> 32
    network_key, run_key = jax.random.split(jax.random.fold_in(jax.random.key(low), high))
    network = network_for(architecture_for(config, env), networks, len(env.observation_shape), config.dtype)
    params = jax.jit(network.init)(network_key, jnp.zeros((1, *env.observation_shape)))
    if games is None:
        games = jax.jit(jax.vmap(env.reset))(jnp.asarray(env.initial_seeds(config.seed, config.num_envs)))
    optimizer = optimizer_of(config)
    scale = FIRST_SCALE if config.value_head == POPART else None
    return RunnerState(
        train_state=TrainState(0, params, optimizer.init(params), network.apply, optimizer, scale),
        env_state=games,
        episode_steps=jnp.zeros(config.num_envs, jnp.int32),
        episode_return=jnp.zeros(config.num_envs),
        key=run_key,
        event_counts={name: jnp.zeros(config.num_envs, jnp.int32) for name in env.counted_events},
        archive=curriculum.empty_archive(config, env, games),
    )


def make_train(config: TrainConfig, env: JaxEnv, mesh: Mesh | None = None) -> jax.stages.Wrapped:
    """Return the jitted ``train(runner, num_updates, updates_of_run, prices)``: that many whole updates in one call.

    ``num_updates`` (int32, 1 to ``config.log_interval``) is an ordinary argument, so a shorter last
    call needs no second compilation. So are ``updates_of_run`` (int32; ``config.num_updates`` by default), where
    schedules end, and ``prices`` (``env.prices`` by default). The stats have a leading axis of ``log_interval``, of
    which the first ``num_updates`` entries count. ``config`` is one that ``TrainConfig.validated`` accepts.
    """

    # Jitted, so that learning its shapes and calling it share one trace.
    @jax.jit
    def update(runner: RunnerState, updates_of_run: Array | int, prices: ArrayLike) -> tuple[RunnerState, UpdateStats]:
        return _update(runner, config, env.with_prices(jnp.asarray(prices)), mesh, updates_of_run)

    def train(
        runner: RunnerState,
        num_updates: Array,
        updates_of_run: Array | int = config.num_updates,
        prices: ArrayLike = env.prices,
    ) -> tuple[RunnerState, UpdateStats]:
        def body(index: Array, carry: tuple[RunnerState, UpdateStats]) -> tuple[RunnerState, UpdateStats]:
            runner, history = carry
            runner, stats = update(runner, updates_of_run, prices)
            return runner, jax.tree.map(lambda past, new: past.at[index].set(new), history, stats)

        _, shapes = jax.eval_shape(update, runner, updates_of_run, prices)
        history = jax.tree.map(lambda leaf: jnp.zeros((config.log_interval, *leaf.shape), leaf.dtype), shapes)
        runner, history = jax.lax.fori_loop(0, num_updates, body, (runner, history))
        if mesh is not None:
            runner = jax.lax.with_sharding_constraint(runner, shardings_of(runner, mesh))
        return runner, history

    return jax.jit(train)


def shardings_of(runner: RunnerState, mesh: Mesh) -> RunnerState:
    """Shardings of all leaves of a state, or of its shapes: games split over ``mesh``, all else on all devices."""
    whole, split = (NamedSharding(mesh, spec) for spec in (parallel.WHOLE, parallel.SPLIT))
    everywhere: RunnerState = jax.tree.map(lambda leaf: whole, runner)
    of_games = {
        name: getattr(runner, name) for name in ("env_state", "episode_steps", "episode_return", "event_counts")
    }
    return everywhere._replace(**jax.tree.map(lambda leaf: split, of_games))


def _update(
    runner: RunnerState, config: TrainConfig, env: JaxEnv, mesh: Mesh | None, updates_of_run: Array | int | None = None
) -> tuple[RunnerState, UpdateStats]:
    runner, transitions, metrics = collect_rollout(runner, config, env, mesh)

    @parallel.one_seed_at_a_time
    def learned(
        runner: RunnerState, transitions: Transition, updates_of_run: Array | int | None
    ) -> tuple[TrainState, LossStats]:
        samples = samples_of(runner, transitions, config, env, mesh)
        return learn(runner.train_state, samples, runner.key, config, env, mesh, updates_of_run)

    key, learn_key = jax.random.split(runner.key)
    played = transitions._replace(episode=None)
    train_state, losses = learned(runner._replace(key=learn_key), played, updates_of_run)
    return runner._replace(train_state=train_state, key=key), UpdateStats(losses, metrics, transitions.episode)


def learn(
    train_state: TrainState,
    samples: Samples,
    key: Array,
    config: TrainConfig,
    env: JaxEnv,
    mesh: Mesh | None = None,
    updates_of_run: Array | int | None = None,
) -> tuple[TrainState, LossStats]:
    """``update_epochs`` passes over a rollout's samples in minibatches that ``key`` shuffles.

    updates_of_run: where schedules end; None: ``config.num_updates``.
    """
    rates = rates_at(config, train_state.step, updates_of_run)
    explained = 1 - samples.advantage.var() / jnp.maximum(samples.target.var(), _LEAST_VARIANCE)
    if train_state.value_scale is not None:
        train_state, samples = _followed(train_state, samples, config)
    if config.scaled_over == BATCH:
        level = samples.transition.level
        scaled = scaled_advantage(samples.advantage, config.advantage, level, env.levels)
        samples = samples._replace(advantage=scaled, transition=samples.transition._replace(level=None))

    # several devices split the samples in any order, and only a first layer of an encoder's own makes use of it
    can_sort = mesh is None and hasattr(env.networks()[config.network], "first_layer")
    sort_key = env.sort_key(samples.transition.obs) if can_sort else None
    step = partial(_gradient_step, env=env, config=config, is_sorted=sort_key is not None, rates=rates)

    def epoch(train_state: TrainState, epoch_key: Array) -> tuple[TrainState, LossStats]:
        return update_epoch(train_state, step, samples, epoch_key, config, mesh, sort_key)

    epoch_keys = jax.random.split(key, config.update_epochs)
    train_state, losses = jax.lax.scan(epoch, train_state, epoch_keys)
    stats: LossStats = jax.tree.map(jnp.mean, losses)
    if config.diagnostics:
        stats = stats._replace(diagnostics={**stats.diagnostics, "explained_variance": explained})
    return train_state, stats


def _followed(train_state: TrainState, samples: Samples, config: TrainConfig) -> tuple[TrainState, Samples]:
    """PopArt: the scale takes in the returns, the head keeps its values, and the samples' are as the head says them."""
    before, returns = train_state.value_scale, samples.target
    assert before is not None
    after = before.following(returns.mean(), returns.var(), config.popart_beta, jnp)
    train_state = train_state.replace(params=rescaled(train_state.params, before, after), value_scale=after)
    transition = samples.transition._replace(value=after.scaled(samples.transition.value))
    return train_state, samples._replace(transition=transition, target=after.scaled(returns))


def _gradient_step(
    train_state: TrainState, minibatch: Samples, *, env: JaxEnv, config: TrainConfig, is_sorted: bool, rates: Rates
) -> tuple[TrainState, LossStats]:
    gradient = jax.grad(partial(ppo_loss, privileges=env.privileges, rates=rates), has_aux=True)
    grads, stats = gradient(train_state.params, train_state.apply_fn, env.expand, minibatch, config, is_sorted)
    if config.diagnostics:
        stats = stats._replace(diagnostics={**stats.diagnostics, "grad_norm": optax.tree.norm(grads)})
    updates, opt_state = train_state.tx.update(grads, train_state.opt_state, train_state.params)
    if (rate := rates.learning_rate) is not None:
        updates = jax.tree.map(lambda update: -rate * update, updates)
    params = optax.apply_updates(train_state.params, updates)
    return train_state.replace(step=train_state.step + 1, params=params, opt_state=opt_state), stats


def update_epoch(
    train_state: TrainState,
    learn: GradientStep,
    samples: Samples,
    key: Array,
    config: TrainConfig,
    mesh: Mesh | None = None,
    sort_key: Array | None = None,
) -> tuple[TrainState, LossStats]:
    """One pass over ``samples`` in shuffled minibatches; stats are their means.

    Each minibatch is sorted by ``sort_key``, int32 (batch,), where there is one.
    """

    def on_minibatch(train_state: TrainState, indices: Array) -> tuple[TrainState, LossStats]:
        return learn(train_state, parallel.split(jax.tree.map(lambda leaf: leaf[indices], samples), mesh))

    order = jax.random.permutation(key, config.batch_size).reshape(config.num_minibatches, config.minibatch_size)
    if sort_key is not None:
        order = jnp.take_along_axis(order, jnp.argsort(sort_key[order], axis=1), axis=1)
    train_state, stats = jax.lax.scan(on_minibatch, train_state, order)
    return train_state, jax.tree.map(partial(jnp.mean, axis=0), stats)

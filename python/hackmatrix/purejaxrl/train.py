"""Whole PPO updates as one compiled function."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax.training.train_state import TrainState
from jax import Array
from jax.sharding import NamedSharding

from hackmatrix.purejaxrl import parallel
from hackmatrix.purejaxrl.config import TrainConfig
from hackmatrix.purejaxrl.env_wrapper import EnvState, HackMatrixGymnax, StepOutcome
from hackmatrix.purejaxrl.masked_ppo import (
    LossStats,
    Samples,
    Transition,
    _env_step,
    _update_epoch,
    compute_gae,
    evaluate,
    make_optimizer,
)
from hackmatrix.purejaxrl.networks import make_network
from hackmatrix.rules import SIPHON


class RunnerState(NamedTuple):
    """Everything that goes from one update to the next."""

    train_state: TrainState
    env_state: EnvState  # of all games
    episode_return: Array  # float32 (games,), of the episodes in progress
    key: Array


class StepFacts(NamedTuple):
    """What one step of all games adds to the metrics."""

    component_sums: Array  # float32 (15,), thousandths
    action_counts: Array  # int32 (3,): moves, siphons, programs
    episodes: Array  # int32, ended by this step
    return_sum: Array  # float32, of those episodes
    length_sum: Array  # int32, of those episodes
    highest_stage: Array  # the stage reads 9 in a won game (C3)


class UpdateStats(NamedTuple):
    """The metrics of one update: losses averaged over its gradient steps, facts over its rollout."""

    loss: LossStats
    facts: StepFacts


# train(runner, num_updates)
TrainFunction = Callable[[RunnerState, Array], tuple[RunnerState, UpdateStats]]


def init_runner(config: TrainConfig, env: HackMatrixGymnax) -> RunnerState:
    """A fresh network and a new game in every slot; a pure function of ``config.seed`` (R6 for the games)."""
    low, high = config.seed & 0xFFFFFFFF, config.seed >> 32
    network_key, run_key = jax.random.split(jax.random.fold_in(jax.random.key(low), high))
    network = make_network(config.network, env.num_actions, config.hidden_dim, config.num_layers, config.dtype)
    optimizer = make_optimizer(config.learning_rate, config.max_grad_norm)
    params = jax.jit(network.init)(network_key, jnp.zeros((1, env.observation_size)))
    env_state = jax.jit(jax.vmap(env.reset_from_seed))(jnp.asarray(env.initial_seeds(config.seed, config.num_envs)))
    return RunnerState(
        train_state=TrainState.create(apply_fn=network.apply, params=params, tx=optimizer),
        env_state=env_state,
        episode_return=jnp.zeros(config.num_envs),
        key=run_key,
    )


def make_train(config: TrainConfig, env: HackMatrixGymnax) -> jax.stages.Wrapped:
    """Return the jitted ``train(runner, num_updates)``, a ``TrainFunction``: that many whole updates in one call.

    ``num_updates`` (int32, 1 to ``config.log_interval``) is an ordinary argument, so a shorter last
    call needs no second compilation. The stats have a leading axis of ``log_interval``, of which
    the first ``num_updates`` entries count. Raises UsageError on an impossible configuration.
    """
    config = config.validated()

    # Jitted, so that learning its shapes and calling it share one trace.
    @jax.jit
    def update(runner: RunnerState) -> tuple[RunnerState, UpdateStats]:
        return _update(runner, config, env)

    def train(runner: RunnerState, num_updates: Array) -> tuple[RunnerState, UpdateStats]:
        def body(index: Array, carry: tuple[RunnerState, UpdateStats]) -> tuple[RunnerState, UpdateStats]:
            runner, history = carry
            runner, stats = update(runner)
            return runner, jax.tree.map(lambda past, new: past.at[index].set(new), history, stats)

        _, shapes = jax.eval_shape(update, runner)
        history = jax.tree.map(lambda leaf: jnp.zeros((config.log_interval, *leaf.shape), leaf.dtype), shapes)
        carry: tuple[RunnerState, UpdateStats] = jax.lax.fori_loop(0, num_updates, body, (runner, history))
        return carry

    return jax.jit(train) if env.mesh is None else jax.jit(train, out_shardings=(shardings_of(config, env), None))


def shardings_of(config: TrainConfig, env: HackMatrixGymnax) -> RunnerState:
    """Where each leaf of the state lies: games are split over ``env.mesh``, all else is on every device."""
    assert env.mesh is not None
    whole, split = (NamedSharding(env.mesh, spec) for spec in (parallel.WHOLE, parallel.SPLIT))
    shapes = jax.eval_shape(partial(init_runner, config, env))
    everywhere: RunnerState = jax.tree.map(lambda leaf: whole, shapes)
    games = jax.tree.map(lambda leaf: split, (shapes.env_state, shapes.episode_return))
    return everywhere._replace(env_state=games[0], episode_return=games[1])


def collect_rollout(
    runner: RunnerState, config: TrainConfig, env: HackMatrixGymnax
) -> tuple[RunnerState, Transition, StepFacts]:
    """Play ``num_steps`` steps in all games; transitions and facts have a leading axis of steps."""
    key, rollout_key = jax.random.split(runner.key)

    def step(
        carry: tuple[EnvState, Array], step_key: Array
    ) -> tuple[tuple[EnvState, Array], tuple[Transition, StepFacts]]:
        env_state, episode_return = carry
        env_state, transition, outcome = _env_step(runner.train_state, env, env_state, step_key)
        episode_return += transition.reward
        facts = _facts_of(transition, outcome, episode_return)
        return (env_state, jnp.where(transition.done, 0.0, episode_return)), (transition, facts)

    start = (runner.env_state, runner.episode_return)
    (env_state, episode_return), (transitions, facts) = jax.lax.scan(
        step, start, jax.random.split(rollout_key, config.num_steps)
    )
    runner = runner._replace(env_state=env_state, episode_return=episode_return, key=key)
    return runner, transitions, facts


def samples_of(runner: RunnerState, transitions: Transition, config: TrainConfig, env: HackMatrixGymnax) -> Samples:
    """Add GAE to a rollout that ended in ``runner`` and flatten it to a batch of ``config.batch_size``."""
    _, last_value = evaluate(runner.train_state, env, env.over_games(env.compact)(runner.env_state))
    advantages, targets = compute_gae(
        transitions.reward,
        transitions.value,
        transitions.done,
        transitions.truncated_value,
        last_value,
        config.gamma,
        config.gae_lambda,
    )
    samples: Samples = jax.tree.map(
        lambda leaf: leaf.reshape(config.batch_size, *leaf.shape[2:]), Samples(transitions, advantages, targets)
    )
    return samples


def _update(runner: RunnerState, config: TrainConfig, env: HackMatrixGymnax) -> tuple[RunnerState, UpdateStats]:
    """One PPO update: rollout, GAE, ``update_epochs`` passes."""
    runner, transitions, facts = collect_rollout(runner, config, env)
    samples = samples_of(runner, transitions, config, env)
    key, epochs_key = jax.random.split(runner.key)

    def epoch(train_state: TrainState, epoch_key: Array) -> tuple[TrainState, LossStats]:
        return _update_epoch(train_state, env, samples, epoch_key, config)

    epoch_keys = jax.random.split(epochs_key, config.update_epochs)
    train_state, losses = jax.lax.scan(epoch, runner.train_state, epoch_keys)
    stats = UpdateStats(jax.tree.map(jnp.mean, losses), _facts_of_rollout(facts))
    return runner._replace(train_state=train_state, key=key), stats


def _facts_of(transition: Transition, outcome: StepOutcome, episode_return: Array) -> StepFacts:
    action, done = transition.action, transition.done
    kinds = jnp.stack([action < SIPHON, action == SIPHON, action > SIPHON])
    return StepFacts(
        component_sums=outcome.components.astype(jnp.float32).sum(axis=0),
        action_counts=kinds.sum(axis=1, dtype=jnp.int32),
        episodes=done.sum(dtype=jnp.int32),
        return_sum=jnp.where(done, episode_return, 0.0).sum(),
        length_sum=jnp.where(done, outcome.episode_steps, 0).sum(dtype=jnp.int32),
        highest_stage=outcome.final_game.now.stage.max(),
    )


def _facts_of_rollout(facts: StepFacts) -> StepFacts:
    totals: StepFacts = jax.tree.map(lambda leaf: leaf.sum(axis=0), facts)
    return totals._replace(highest_stage=facts.highest_stage.max())

"""PPO (Schulman et al. 2017, arXiv:1707.06347) with invalid actions masked (Huang & Ontañón 2020, arXiv:2006.14171).

The functions follow the steps of one update: play a rollout, estimate advantages, take the gradient steps of a few
epochs; `update`, the last one, combines them. Choices that the papers leave open follow PureJaxRL unless settings say
otherwise: clipped value loss, advantages normalised per minibatch, orthogonal initialisation, tanh, Adam with epsilon
1e-5. A rollout stores compact observations; policy and loss expand them to floats, one minibatch at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]
from jax import Array
from jax.sharding import Mesh

from rlworldkit.jax.categorical import Categorical, categorical_class
from rlworldkit.jax.env import Compact, JaxEnv, StepOutput
from rlworldkit.jax.exact import rounded
from rlworldkit.ppo import curriculum, parallel
from rlworldkit.ppo.config import NO_CURRICULUM, TrainConfig
from rlworldkit.ppo.metrics import RolloutMetrics, metrics_of_rollout, metrics_of_step
from rlworldkit.ppo.optimizer import UpdateRates, rates_at
from rlworldkit.ppo.params import Params
from rlworldkit.ppo.state import EpisodeInfo, RunnerState, Samples, TrainState, Transition
from rlworldkit.ppo.targets import ADVANTAGE_EPSILON, followed, scaled_advantage, value_errors

MASKED_LOGIT = -1e9
_LEAST_VARIANCE = 1e-12


class LossStats(NamedTuple):
    """Parts of the loss and diagnostics of an update, float32 scalars."""

    total_loss: Array
    pg_loss: Array
    value_loss: Array
    entropy: Array  # nats
    entropy_ratio: Array  # entropy / ln(valid actions), both summed over the samples: 1 is uniform
    approx_kl: Array  # nats; the estimator (r - 1) - log r
    clip_frac: Array
    diagnostics: Mapping[str, Array] = {}  # further values, by name, if ``TrainConfig.diagnostics`` is set

    def by_name(self) -> dict[str, Array]:
        """All values by name, with those of ``diagnostics``."""
        parts = self._asdict()
        diagnostics = parts.pop("diagnostics")
        return {**parts, **diagnostics}


class UpdateStats(NamedTuple):
    """Metrics of one update: losses averaged over its gradient steps, and metrics of its rollout.

    episodes: the rollout's episodes, (steps, games), if the environment has ``counted_events``.
    """

    loss: LossStats
    rollout: RolloutMetrics
    episodes: EpisodeInfo | None = None


def masked_categorical(logits: Array, mask: Array) -> Categorical:
    """Make the categorical distribution over the actions that ``mask`` (bool, the shape of ``logits``) allows."""
    return categorical_class()(logits=jnp.where(mask, logits, MASKED_LOGIT))


def evaluate(train_state: TrainState, env: JaxEnv, obs: Compact) -> tuple[Array, Array]:
    """Compute logits, and values in units of reward, of compact observations with one leading axis."""
    logits, value = train_state.apply_fn(train_state.params, env.expand(obs), env.privileges(obs))
    scale = train_state.value_scale
    return logits, value if scale is None else scale.values(value)


def collect_rollout(
    runner: RunnerState, config: TrainConfig, env: JaxEnv, mesh: Mesh | None = None
) -> tuple[RunnerState, Transition, RolloutMetrics]:
    """Play ``num_steps`` steps in all games; transitions have a leading axis of steps."""
    key, rollout_key = jax.random.split(runner.key)

    def step(carry: RunnerState, step_key: Array) -> tuple[RunnerState, tuple[Transition, RolloutMetrics]]:
        following, transition, metrics = _env_step(carry, config, env, mesh, step_key)
        return following, (transition, metrics)

    runner, (transitions, metrics) = jax.lax.scan(step, runner, jax.random.split(rollout_key, config.num_steps))
    runner = runner._replace(key=key)
    if runner.archive is not None:
        reached = curriculum.EpisodeState(
            runner.env_state, runner.episode_steps, runner.episode_return, runner.event_counts
        )
        levels = parallel.over_games(env.level, mesh)(runner.env_state)
        archived = parallel.one_seed_at_a_time(curriculum.archived, env)
        runner = runner._replace(archive=archived(runner.archive, reached, levels))
    return runner, transitions, metrics_of_rollout(metrics)


def _env_step(
    runner: RunnerState, config: TrainConfig, env: JaxEnv, mesh: Mesh | None, key: Array
) -> tuple[RunnerState, Transition, RolloutMetrics]:
    """Choose and play one action in every game; the observation stored is the one the policy saw."""
    start_key = None
    if config.curriculum != NO_CURRICULUM:
        key, start_key = jax.random.split(key)
    obs = parallel.over_games(env.compact, mesh)(runner.env_state)
    action_mask = parallel.over_games(env.mask, mesh)(runner.env_state)

    @partial(parallel.one_seed_at_a_time, env=env)
    def act(env: JaxEnv, train_state: TrainState, key: Array, obs: Compact, mask: Array) -> tuple[Array, Array, Array]:
        logits, value = evaluate(train_state, env, obs)
        return value, *masked_categorical(logits, mask).sample_and_log_prob(seed=key)

    value, action, log_prob = act(runner.train_state, key, obs, action_mask)
    episode_steps = runner.episode_steps + 1
    at_limit = () if config.max_steps is None else (episode_steps >= config.max_steps,)
    step: StepOutput = parallel.over_games(env.step_autoreset, mesh)(runner.env_state, action, *at_limit)
    done = step.terminated | step.truncated
    reward = rounded(step.reward)
    episode_return = runner.episode_return + reward
    counts = {name: before + step.events[name] for name, before in runner.event_counts.items()}
    may_truncate = env.can_truncate or config.max_steps is not None
    truncated_value = parallel.one_seed_at_a_time(partial(_truncated_value, mesh=mesh), env)
    transition = Transition(
        obs=obs,
        action=action,
        reward=reward,
        done=done,
        log_prob=log_prob,
        value=value,
        action_mask=action_mask,
        truncated_value=truncated_value(runner.train_state, step) if may_truncate else None,
        episode=EpisodeInfo(done, step.terminated, episode_steps, episode_return, counts) if counts else None,
        level=parallel.over_games(env.level, mesh)(runner.env_state) if config.advantage == "levels" else None,
    )
    metrics = metrics_of_step(config, env, mesh, transition, step, episode_steps, episode_return)
    totals = jax.tree.map(lambda so_far: jnp.where(done, 0, so_far), (episode_steps, episode_return, counts))
    begun = curriculum.EpisodeState(step.state, *totals)
    if start_key is not None:
        begun = curriculum.begin(config, env, mesh, runner.archive, begun, done, start_key)
    following = runner._replace(
        env_state=begun.games, episode_steps=begun.steps, episode_return=begun.returns, event_counts=begun.event_counts
    )
    return following, transition, metrics


def _truncated_value(env: JaxEnv, train_state: TrainState, step: StepOutput, mesh: Mesh | None) -> Array:
    """Compute the values, (games,), of the last observations of truncated episodes; 0 in the other games."""

    def values_at_end() -> Array:
        _, value = evaluate(train_state, env, parallel.over_games(env.compact, mesh)(step.final))
        return jnp.where(is_cut_off, value, 0.0)

    is_cut_off = step.truncated & ~step.terminated
    values: Array = jax.lax.cond(jnp.any(is_cut_off), values_at_end, lambda: jnp.zeros_like(step.reward))
    return values


def compute_gae(
    reward: Array,
    value: Array,
    done: Array,
    truncated_value: Array | None,
    last_value: Array,
    gamma: float,
    gae_lambda: float,
) -> tuple[Array, Array]:
    """Generalised advantage estimation (arXiv:1506.02438); returns (advantages, value targets), (steps, games).

    ``reward``, ``value``, ``done`` and ``truncated_value`` are (steps, games); ``last_value``,
    (games,), is the value of the observation after the last step. An ended episode bootstraps from
    ``truncated_value`` (0 where it terminated), never from the next episode's first observation.
    """
    after_end = jnp.zeros_like(value) if truncated_value is None else truncated_value

    def backwards(carry: tuple[Array, Array], step: tuple[Array, ...]) -> tuple[tuple[Array, Array], Array]:
        next_advantage, next_value = carry
        reward, value, done, after_end = step
        delta = reward + gamma * jnp.where(done, after_end, next_value) - value
        advantage = delta + gamma * gae_lambda * jnp.where(done, 0.0, next_advantage)
        return (advantage, value), advantage

    start = (jnp.zeros_like(last_value), last_value)
    _, advantages = jax.lax.scan(backwards, start, (reward, value, done, after_end), reverse=True)
    return advantages, advantages + value


def samples_of(
    runner: RunnerState, transitions: Transition, config: TrainConfig, env: JaxEnv, mesh: Mesh | None = None
) -> Samples:
    """Add GAE to a rollout that ended in ``runner`` and flatten it to a batch of ``config.batch_size``."""
    _, last_value = evaluate(runner.train_state, env, parallel.over_games(env.compact, mesh)(runner.env_state))
    played = transitions.reward, transitions.value, transitions.done, transitions.truncated_value
    advantages, targets = compute_gae(*played, last_value, config.gamma, config.gae_lambda)
    samples: Samples = jax.tree.map(
        lambda leaf: leaf.reshape(config.batch_size, *leaf.shape[2:]), Samples(transitions, advantages, targets)
    )
    return samples


def ppo_loss(
    params: Params,
    apply: Callable[..., tuple[Array, Array]],
    samples: Samples,
    config: TrainConfig,
    env: JaxEnv,
    rates: UpdateRates | None = None,
    is_sorted: bool = False,
) -> tuple[Array, LossStats]:
    """Compute the loss of a minibatch, with the action mask that was in force when each action was chosen.

    Clipped surrogate + ``vf_coef`` x value loss - ``ent_coef`` x entropy + penalty for entropy below its floor.
    ``apply``: that of an ``ActorCritic``. ``rates``: those of the update; None: those of the settings.
    ``is_sorted``: whether samples are sorted by ``JaxEnv.sort_key``.
    """
    clip_eps, ent_coef, *_ = rates or UpdateRates(config.clip_eps, config.ent_coef)
    transition = samples.transition
    obs, known = env.expand(transition.obs), env.privileges(transition.obs)
    logits, value_outputs = apply(params, obs, known, is_sorted, method="outputs")
    policy = masked_categorical(logits, transition.action_mask)

    log_ratio = policy.log_prob(transition.action) - transition.log_prob
    ratio = jnp.exp(log_ratio)
    advantage = samples.advantage
    if config.scaled_over == "minibatch":
        advantage = scaled_advantage(advantage, config.advantage)
    clipped_ratio = jnp.clip(ratio, 1.0 - clip_eps, 1.0 + clip_eps)
    pg_loss = -jnp.minimum(ratio * advantage, clipped_ratio * advantage).mean()
    value_loss = value_errors(value_outputs, transition.value, samples.target, config, clip_eps).mean()
    entropy = policy.entropy().mean()
    most_entropy = jnp.log(transition.action_mask.sum(axis=-1)).mean()
    total_loss = pg_loss + config.vf_coef * value_loss - ent_coef * entropy
    floor_penalty = config.entropy_floor_coef * jnp.maximum(config.entropy_floor - entropy, 0.0)
    if config.entropy_floor_coef:
        total_loss += floor_penalty
    diagnostics = {}
    if config.diagnostics:
        chances = policy.probs.mean(axis=0)
        diagnostics = {f"action_prob_{action}": chance for action, chance in enumerate(chances)}
        diagnostics["entropy_floor_penalty"] = floor_penalty
    return total_loss, LossStats(
        total_loss=total_loss,
        pg_loss=pg_loss,
        value_loss=value_loss,
        entropy=entropy,
        entropy_ratio=entropy / jnp.maximum(most_entropy, ADVANTAGE_EPSILON),
        approx_kl=(ratio - 1.0 - log_ratio).mean(),
        clip_frac=(jnp.abs(ratio - 1.0) > clip_eps).mean(),
        diagnostics=diagnostics,
    )


def learn(
    train_state: TrainState,
    samples: Samples,
    key: Array,
    config: TrainConfig,
    env: JaxEnv,
    mesh: Mesh | None = None,
    updates_of_run: Array | int | None = None,
) -> tuple[TrainState, LossStats]:
    """Make ``update_epochs`` passes over a rollout's samples in minibatches that ``key`` shuffles.

    updates_of_run: the number of updates after which schedules end; None: ``config.num_updates``.
    """
    rates = rates_at(config, train_state.step, updates_of_run)
    explained = 1 - samples.advantage.var() / jnp.maximum(samples.target.var(), _LEAST_VARIANCE)
    if train_state.value_scale is not None:
        train_state, samples = followed(train_state, samples, config)
    if config.scaled_over == "batch":
        level = samples.transition.level
        scaled = scaled_advantage(samples.advantage, config.advantage, level, env.levels)
        samples = samples._replace(advantage=scaled, transition=samples.transition._replace(level=None))

    # sorting helps only an encoder with its own first layer, and several devices split the samples in any order
    can_sort = mesh is None and hasattr(env.networks()[config.network], "first_layer")
    sort_key = env.sort_key(samples.transition.obs) if can_sort else None

    def epoch(train_state: TrainState, epoch_key: Array) -> tuple[TrainState, LossStats]:
        return update_epoch(train_state, samples, epoch_key, config, env, mesh, rates, sort_key)

    epoch_keys = jax.random.split(key, config.update_epochs)
    train_state, losses = jax.lax.scan(epoch, train_state, epoch_keys)
    stats: LossStats = jax.tree.map(jnp.mean, losses)
    if config.diagnostics:
        stats = stats._replace(diagnostics={**stats.diagnostics, "explained_variance": explained})
    return train_state, stats


def update_epoch(
    train_state: TrainState,
    samples: Samples,
    key: Array,
    config: TrainConfig,
    env: JaxEnv,
    mesh: Mesh | None = None,
    rates: UpdateRates | None = None,
    sort_key: Array | None = None,
) -> tuple[TrainState, LossStats]:
    """Make one pass over ``samples`` in shuffled minibatches, with a gradient step each; stats are means over them.

    Each minibatch is sorted by ``sort_key``, int32 (batch,), if there is one.
    """

    def gradient_step(train_state: TrainState, indices: Array) -> tuple[TrainState, LossStats]:
        minibatch = parallel.split(jax.tree.map(lambda leaf: leaf[indices], samples), mesh)
        grads, stats = jax.grad(ppo_loss, has_aux=True)(
            train_state.params, train_state.apply_fn, minibatch, config, env, rates, sort_key is not None
        )
        if config.diagnostics:
            stats = stats._replace(diagnostics={**stats.diagnostics, "grad_norm": optax.tree.norm(grads)})
        updates, opt_state = train_state.tx.update(grads, train_state.opt_state, train_state.params)
        if rates is not None and (rate := rates.learning_rate) is not None:
            updates = jax.tree.map(lambda update: -rate * update, updates)
        params = optax.apply_updates(train_state.params, updates)
        return train_state.replace(step=train_state.step + 1, params=params, opt_state=opt_state), stats

    order = jax.random.permutation(key, config.batch_size).reshape(config.num_minibatches, config.minibatch_size)
    if sort_key is not None:
        order = jnp.take_along_axis(order, jnp.argsort(sort_key[order], axis=1), axis=1)
    train_state, stats = jax.lax.scan(gradient_step, train_state, order)
    return train_state, jax.tree.map(partial(jnp.mean, axis=0), stats)


def update(
    runner: RunnerState,
    config: TrainConfig,
    env: JaxEnv,
    mesh: Mesh | None = None,
    updates_of_run: Array | int | None = None,
) -> tuple[RunnerState, UpdateStats]:
    """Make one whole update: a rollout, and the gradient steps that learn from it."""
    runner, transitions, metrics = collect_rollout(runner, config, env, mesh)

    @partial(parallel.one_seed_at_a_time, env=env)
    def learned(
        env: JaxEnv, runner: RunnerState, transitions: Transition, updates_of_run: Array | int | None
    ) -> tuple[TrainState, LossStats]:
        samples = samples_of(runner, transitions, config, env, mesh)
        return learn(runner.train_state, samples, runner.key, config, env, mesh, updates_of_run)

    key, learn_key = jax.random.split(runner.key)
    played = transitions._replace(episode=None)
    train_state, losses = learned(runner._replace(key=learn_key), played, updates_of_run)
    return runner._replace(train_state=train_state, key=key), UpdateStats(losses, metrics, transitions.episode)

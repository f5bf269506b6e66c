"""PPO (Schulman et al. 2017, arXiv:1707.06347) with invalid actions masked (Huang & Ontañón 2020, arXiv:2006.14171).

The choices that the papers leave open are PureJaxRL's unless settings say otherwise: clipped value loss, advantages
normalised per minibatch, orthogonal initialisation, tanh, Adam with epsilon 1e-5. A rollout stores compact
observations; they become floats inside the policy and the loss, one minibatch at a time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple, assert_never

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]
from jax import Array

from rlworldkit.jax.categorical import Categorical, categorical_class
from rlworldkit.jax.env import Compact
from rlworldkit.ppo.config import GRADIENT_STEPS, LEVELS, MINIBATCH, STANDARD, AdvantageScale, TrainConfig
from rlworldkit.ppo.params import Params
from rlworldkit.ppo.value_heads import symlog, two_hot

MASKED_LOGIT = -1e9
ADAM_EPSILON = 1e-5
ADVANTAGE_EPSILON = 1e-8
MOST_DEVIATIONS = 10.0
"""The size at which ``robust`` advantages are cut, in mean absolute deviations."""


def masked_categorical(logits: Array, mask: Array) -> Categorical:
    """The categorical distribution over the actions that ``mask`` (bool, the shape of ``logits``) allows."""
    return categorical_class()(logits=jnp.where(mask, logits, MASKED_LOGIT))


class EpisodeInfo(NamedTuple):
    """The episode of a step so far; it is over where ``done``."""

    done: Array  # bool
    terminated: Array  # bool
    length: Array  # int32
    episode_return: Array  # float32
    event_counts: Mapping[str, Array]  # int32


class Transition(NamedTuple):
    """One step of every game; all leaves share their leading axes ((games,), (steps, games) or (samples,)).

    ``obs`` and ``action_mask`` are what the policy saw when it chose ``action``. ``reward`` and
    ``done`` are that action's. ``truncated_value`` is the value of an episode's own last
    observation where a time limit cut it off and 0 elsewhere; None in an environment without limit.
    ``episode`` is None where the environment has no ``counted_events``.
    """

    obs: Compact
    action: Array  # int32
    reward: Array  # float32
    done: Array  # bool, terminated or truncated
    log_prob: Array  # float32
    value: Array  # float32
    action_mask: Array  # bool (..., actions)
    truncated_value: Array | None  # float32
    episode: EpisodeInfo | None = None
    level: Array | None = None  # int32, where advantages are scaled by level


class Samples(NamedTuple):
    """Transitions with what GAE made of them, float32 each."""

    transition: Transition
    advantage: Array
    target: Array


class LossStats(NamedTuple):
    """The parts of the loss and the health of the update, float32 scalars."""

    total_loss: Array
    pg_loss: Array
    value_loss: Array
    entropy: Array  # nats
    entropy_ratio: Array  # entropy / ln(valid actions), both summed over the samples: 1 is uniform
    approx_kl: Array  # nats; the estimator (r - 1) - log r
    clip_frac: Array
    diagnostics: Mapping[str, Array] = {}  # more of them, where the settings ask for it


class Rates(NamedTuple):
    """Rates that may change from update to update. learning_rate: None where the optimizer has one of its own."""

    clip_eps: Array | float
    ent_coef: Array | float
    learning_rate: Array | float | None = None


def rates_at(config: TrainConfig, step: Array | int, num_updates: Array | int | None = None) -> Rates:
    """The rates of the update that begins after so many gradient steps: linear from the first update to the last.

    num_updates: of the run; None: ``config.num_updates``.
    """
    last = (config.num_updates if num_updates is None else num_updates) - 1
    done = step // (config.update_epochs * config.num_minibatches) / jnp.maximum(last, 1)

    def between(first: float, last: float | None) -> Array | float:
        return first if last is None else first + (last - first) * jnp.minimum(done, 1.0)

    return Rates(
        between(config.clip_eps, config.clip_eps_end),
        between(config.ent_coef, config.ent_coef_end),
        None if optimizer_has_rate(config) else between(config.learning_rate, config.learning_rate_end),
    )


def optimizer_has_rate(config: TrainConfig) -> bool:
    """True where the optimizer itself schedules the learning rate."""
    return config.learning_rate_end is None or config.learning_rate_steps == GRADIENT_STEPS


def optimizer_of(config: TrainConfig) -> optax.GradientTransformation:
    """The optimizer of a run with these settings."""
    if not optimizer_has_rate(config):
        return make_optimizer(None, config.max_grad_norm)
    end = None if config.learning_rate_end is None else (config.learning_rate_end, config.num_gradient_steps)
    return make_optimizer(config.learning_rate, config.max_grad_norm, end)


# A TrainState compares its network and its optimizer by identity; cached, equal settings make equal
# states, and a compiled function accepts any of them.
@functools.cache
def make_optimizer(
    learning_rate: float | None, max_grad_norm: float, end: tuple[float, int] | None = None
) -> optax.GradientTransformation:
    """Adam after clipping the gradient's global norm.

    The learning rate is constant, or falls in a straight line to that of ``end`` over its number of gradient steps.
    Without one, whoever takes a step scales it.
    """
    if learning_rate is None:
        return optax.chain(optax.clip_by_global_norm(max_grad_norm), optax.scale_by_adam(eps=ADAM_EPSILON))
    rate = learning_rate if end is None else optax.linear_schedule(learning_rate, *end)
    return optax.chain(optax.clip_by_global_norm(max_grad_norm), optax.adam(rate, eps=ADAM_EPSILON))


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


def scaled_advantage(advantage: Array, how: AdvantageScale, level: Array | None = None, levels: int = 0) -> Array:
    """The advantages of a minibatch or a batch, (samples,), around 0 and of the order of 1.

    ``standard``: divided by their standard deviation. ``robust``: by their mean absolute deviation, and cut at
    ``MOST_DEVIATIONS``; a single reward of hundreds then neither drowns all others nor moves the policy alone.
    ``levels``: as ``robust``, but by the geometric mean of that deviation and of that of the sample's ``level``, int32
    (samples,) below ``levels``.
    """
    centred = advantage - advantage.mean()
    if how == STANDARD:
        return centred / (advantage.std() + ADVANTAGE_EPSILON)
    size = jnp.abs(centred)
    deviation = size.mean()
    if how == LEVELS:
        assert level is not None
        members = jnp.maximum(jnp.bincount(level, length=levels), 1)
        of_level = jnp.bincount(level, weights=size, length=levels) / members
        deviation = jnp.sqrt(deviation * of_level)[level]
    return jnp.clip(centred / (deviation + ADVANTAGE_EPSILON), -MOST_DEVIATIONS, MOST_DEVIATIONS)


def value_errors(
    outputs: Array, old_value: Array, target: Array, config: TrainConfig, clip_eps: Array | float
) -> Array:
    """Errors of a value head's outputs (samples, outputs), float32 (samples,).

    ``plain``, and ``popart`` on its own scale: half the squared error, or that of the value clipped around
    ``old_value``, whichever is larger.
    ``symlog``: half the squared error of the symmetric logarithm. ``two-hot``: cross-entropy.
    """
    match config.value_head:
        case "two-hot":
            return -(two_hot(target, jnp) * jax.nn.log_softmax(outputs)).sum(axis=-1)
        case "symlog":
            return 0.5 * jnp.square(outputs[..., 0] - symlog(target, jnp))
        case "plain" | "popart":
            value = outputs[..., 0]
            if not config.clip_value_loss:
                return 0.5 * jnp.square(value - target)
            clipped = old_value + jnp.clip(value - old_value, -clip_eps, clip_eps)
            return 0.5 * jnp.maximum(jnp.square(value - target), jnp.square(clipped - target))
        case unknown:
            assert_never(unknown)


def ppo_loss(
    params: Params,
    apply: Callable[..., tuple[Array, Array]],
    expand: Callable[[Compact], Array],
    samples: Samples,
    config: TrainConfig,
    is_sorted: bool = False,
    *,
    privileges: Callable[[Compact], Array | None] = lambda compact: None,
    rates: Rates | None = None,
) -> tuple[Array, LossStats]:
    """The loss of a minibatch, with the action mask that was in force when each action was chosen.

    Clipped surrogate + ``vf_coef`` x value loss - ``ent_coef`` x entropy, and the price of entropy below its floor.
    ``apply`` is that of an ``ActorCritic``. ``is_sorted``: samples are sorted by ``JaxEnv.sort_key``. ``privileges``
    are those of the ``JaxEnv``. ``rates``: of the update; without them those of the settings.
    """
    clip_eps, ent_coef, *_ = rates or Rates(config.clip_eps, config.ent_coef)
    transition = samples.transition
    obs, known = expand(transition.obs), privileges(transition.obs)
    logits, value_outputs = apply(params, obs, known, is_sorted, method="outputs")
    policy = masked_categorical(logits, transition.action_mask)

    log_ratio = policy.log_prob(transition.action) - transition.log_prob
    ratio = jnp.exp(log_ratio)
    advantage = samples.advantage
    if config.scaled_over == MINIBATCH:
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

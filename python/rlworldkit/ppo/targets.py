"""Learning targets of an update: scaled advantages and returns, and the errors of value heads."""

from typing import assert_never

import jax
import jax.numpy as jnp
from jax import Array

from rlworldkit.ppo.config import AdvantageScale, TrainConfig
from rlworldkit.ppo.state import Samples, TrainState
from rlworldkit.ppo.value_heads import rescaled, two_hot

ADVANTAGE_EPSILON = 1e-8
MOST_DEVIATIONS = 10.0
"""Absolute value at which ``robust`` advantages are clipped, in mean absolute deviations."""


def scaled_advantage(advantage: Array, how: AdvantageScale, level: Array | None = None, levels: int = 0) -> Array:
    """Center and normalize the advantages of a minibatch or a batch, (samples,).

    ``standard``: divides by their standard deviation. ``robust``: divides by their mean absolute deviation, and clips
    at ``MOST_DEVIATIONS``, so that a single reward of hundreds neither hides all others nor moves the policy alone.
    ``levels``: like ``robust``, but divides by the geometric mean of the mean absolute deviations of all samples and of
    those of the sample's ``level``, int32 (samples,) below ``levels``.
    """
    centred = advantage - advantage.mean()
    if how == "standard":
        return centred / (advantage.std() + ADVANTAGE_EPSILON)
    size = jnp.abs(centred)
    deviation = size.mean()
    if how == "levels":
        assert level is not None
        members = jnp.maximum(jnp.bincount(level, length=levels), 1)
        of_level = jnp.bincount(level, weights=size, length=levels) / members
        deviation = jnp.sqrt(deviation * of_level)[level]
    return jnp.clip(centred / (deviation + ADVANTAGE_EPSILON), -MOST_DEVIATIONS, MOST_DEVIATIONS)


def value_errors(
    outputs: Array, old_value: Array, target: Array, config: TrainConfig, clip_eps: Array | float
) -> Array:
    """Compute the errors of a value head's outputs (samples, outputs), float32 (samples,).

    ``plain``, and ``popart`` on its own scale: half the squared error; with ``clip_value_loss``, the larger of it and
    that of the value clipped around ``old_value``. ``two-hot``: cross-entropy.
    """
    match config.value_head:
        case "two-hot":
            return -(two_hot(target, jnp) * jax.nn.log_softmax(outputs)).sum(axis=-1)
        case "plain" | "popart":
            value = outputs[..., 0]
            if not config.clip_value_loss:
                return 0.5 * jnp.square(value - target)
            clipped = old_value + jnp.clip(value - old_value, -clip_eps, clip_eps)
            return 0.5 * jnp.maximum(jnp.square(value - target), jnp.square(clipped - target))
        case unknown:
            assert_never(unknown)


def followed(train_state: TrainState, samples: Samples, config: TrainConfig) -> tuple[TrainState, Samples]:
    """PopArt step: update the scale with the returns, rescale the head to keep its values, and rescale the samples."""
    before, returns = train_state.value_scale, samples.target
    assert before is not None
    after = before.following(returns.mean(), returns.var(), config.popart_beta, jnp)
    train_state = train_state.replace(params=rescaled(train_state.params, before, after), value_scale=after)
    transition = samples.transition._replace(value=after.scaled(samples.transition.value))
    return train_state, samples._replace(transition=transition, target=after.scaled(returns))

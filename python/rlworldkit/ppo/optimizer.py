"""The optimizer, and rates that change from update to update."""

import functools
from typing import NamedTuple

import jax.numpy as jnp
import optax  # type: ignore[import-untyped]
from jax import Array

from rlworldkit.ppo.config import TrainConfig

ADAM_EPSILON = 1e-5


class UpdateRates(NamedTuple):
    """Rates that may change from update to update. learning_rate: None if the optimizer has its own."""

    clip_eps: Array | float
    ent_coef: Array | float
    learning_rate: Array | float | None = None


def rates_at(config: TrainConfig, step: Array | int, num_updates: Array | int | None = None) -> UpdateRates:
    """Rates of the update that begins after ``step`` gradient steps: linear from the first update to the last.

    num_updates: the number of updates of the run; None: ``config.num_updates``.
    """
    last = (config.num_updates if num_updates is None else num_updates) - 1
    done = step // (config.update_epochs * config.num_minibatches) / jnp.maximum(last, 1)

    def between(first: float, last: float | None) -> Array | float:
        return first if last is None else first + (last - first) * jnp.minimum(done, 1.0)

    return UpdateRates(
        between(config.clip_eps, config.clip_eps_end),
        between(config.ent_coef, config.ent_coef_end),
        None if optimizer_has_rate(config) else between(config.learning_rate, config.learning_rate_end),
    )


def optimizer_has_rate(config: TrainConfig) -> bool:
    """True if the optimizer itself has the learning rate, constant or scheduled."""
    return config.learning_rate_end is None or config.learning_rate_steps == "gradient-steps"


def optimizer_of(config: TrainConfig) -> optax.GradientTransformation:
    """The optimizer of a run with these settings."""
    if not optimizer_has_rate(config):
        return make_optimizer(None, config.max_grad_norm)
    end = None if config.learning_rate_end is None else (config.learning_rate_end, config.num_gradient_steps)
    return make_optimizer(config.learning_rate, config.max_grad_norm, end)


# A TrainState compares its network and optimizer by identity. The cache makes the states of equal settings
# equal, so that they share compiled functions.
@functools.cache
def make_optimizer(
    learning_rate: float | None, max_grad_norm: float, end: tuple[float, int] | None = None
) -> optax.GradientTransformation:
    """Make Adam with clipping of the gradient's global norm.

    The learning rate is constant, or changes linearly to ``end[0]`` over ``end[1]`` gradient steps. If it is None, the
    caller multiplies the updates by a rate.
    """
    if learning_rate is None:
        return optax.chain(optax.clip_by_global_norm(max_grad_norm), optax.scale_by_adam(eps=ADAM_EPSILON))
    rate = learning_rate if end is None else optax.linear_schedule(learning_rate, *end)
    return optax.chain(optax.clip_by_global_norm(max_grad_norm), optax.adam(rate, eps=ADAM_EPSILON))

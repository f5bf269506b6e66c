"""The arithmetic of an update: what is played, how far that is from what was expected, and gradient steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]
from jax import Array

from goodharts.architecture import NetworkConfig
from goodharts.config import Training
from goodharts.jax_env.state import State
from goodharts.jax_training import CompactObservation, GoodhartsJaxEnv
from goodharts.training.jax_ppo import network, popart
from goodharts.training.jax_ppo.network import Weights
from goodharts.training.jax_ppo.popart import Head, Scale
from goodharts.training.rates import Rates
from worldkit.jaxkit.env import JaxEnv
from worldkit.purejaxrl.config import TrainConfig
from worldkit.purejaxrl.masked_ppo import ADAM_EPSILON, ADVANTAGE_EPSILON, EpisodeInfo
from worldkit.purejaxrl.rollout import RunnerState, collect_rollout, samples_of
from worldkit.purejaxrl.update import update_epoch

_ADAM = optax.scale_by_adam(eps=ADAM_EPSILON)
_LEAST_VARIANCE = 1e-12
_LEAST_NORM = 1e-6
"""What torch adds to a gradient's norm before it divides by it."""


class Actor(NamedTuple):
    """What plays: weights, and the scale of the values."""

    weights: Weights
    scale: Scale


class Learner(NamedTuple):
    """What learns. moments: Adam's."""

    weights: Weights
    moments: Any
    scale: Scale


class Gained(NamedTuple):
    """What an episode has brought so far: reward float32, food and poison int32."""

    reward: Array
    food: Array
    poison: Array


class Playing(NamedTuple):
    """Games, and their episodes so far."""

    game: State
    gained: Gained


class Batch(NamedTuple):
    """What is learned from, (batch, …). target: returns; advantages and returns float32."""

    seen: CompactObservation
    action: Array
    log_prob: Array
    advantage: Array
    target: Array


class Ended(NamedTuple):
    """The episodes of the steps of a rollout, which are over where ``done``, bool (steps, games)."""

    done: Array
    episode: EpisodeInfo


class Said(NamedTuple):
    """What a gradient step says of itself: float32 scalars, but for the eight of ``action_probs``."""

    policy_loss: Array
    value_loss: Array
    entropy: Array
    approx_kl: Array
    clip_fraction: Array
    entropy_floor_penalty: Array
    grad_norm: Array
    action_probs: Array


class Update:
    """The two halves of an update of a mode as pure functions of arrays, with their settings.

    Args:
        env: the games. training: the settings; those of schedules come as ``Rates`` instead.
        config: the network. dtype: what matrix products are computed in.
    """

    def __init__(self, env: GoodhartsJaxEnv, training: Training, config: NetworkConfig, dtype: str) -> None:
        self._env, self._training, self._network, self._dtype = env, training, config, dtype
        self._config = TrainConfig(
            num_envs=training.n_envs,
            num_steps=training.steps_per_env,
            gamma=training.gamma,
            gae_lambda=training.gae_lambda,
            num_minibatches=training.minibatches,
            update_epochs=training.k_epochs,
        )

    def play(self, actor: Actor, games: Playing, key: Array) -> tuple[Playing, Batch, Ended]:
        """Play ``steps_per_env`` steps of every game with a policy; what ended begins anew (G6).

        games: with a leading axis of games. key: for the actions. Gives the games after it, the batch with returns in
        units of reward as its targets, and which episodes ended, (steps, games).
        """
        config, counted = self._config, self._env.counted_events
        counts = dict(zip(counted, games.gained[1:], strict=True))
        steps = games.game.steps.low.astype(jnp.int32)
        runner = RunnerState(actor, games.game, steps, games.gained.reward, key, counts)
        runner, transitions, _ = collect_rollout(runner, config, self._env, judge=self.judged)
        samples = samples_of(runner, transitions._replace(episode=None), config, self._env, judge=self.judged)
        played = samples.transition
        batch = Batch(played.obs, played.action, played.log_prob, samples.advantage, samples.target)
        gained = Gained(runner.episode_return, *(runner.event_counts[name] for name in counted))
        assert transitions.episode is not None
        return Playing(runner.env_state, gained), batch, Ended(transitions.done, transitions.episode)

    def judged(self, actor: Actor, env: JaxEnv, seen: CompactObservation) -> tuple[Array, Array]:
        """Logits and values in units of reward."""
        logits, scaled = self._evaluated(actor.weights, seen)
        return logits, actor.scale.values(scaled)

    def learn(self, learner: Learner, batch: Batch, rates: Rates, key: Array) -> tuple[Learner, Said, Array]:
        """The gradient steps of an update; also what they said, as means, and the explained variance before them.

        rates: float32 scalars, which change from update to update. key: for the order within minibatches.
        """
        returns, gained = batch.target, batch.advantage
        scale, head = popart.follow(
            learner.scale, head_of(learner.weights), returns.mean(), returns.var(), self._training.popart_beta
        )
        learner = Learner(with_head(learner.weights, head), learner.moments, scale)
        batch = batch._replace(
            advantage=(gained - gained.mean()) / (gained.std() + ADVANTAGE_EPSILON), target=scale.scaled(returns)
        )
        step = partial(self._gradient_step, rates=rates)

        def epoch(learner: Learner, epoch_key: Array) -> tuple[Learner, Said]:
            return update_epoch(learner, step, batch, epoch_key, self._config)

        learner, said = jax.lax.scan(epoch, learner, jax.random.split(key, self._config.update_epochs))
        explained = 1 - gained.var() / jnp.maximum(returns.var(), _LEAST_VARIANCE)
        return learner, jax.tree.map(partial(jnp.mean, axis=0), said), explained

    def _evaluated(self, weights: Weights, seen: CompactObservation) -> tuple[Array, Array]:
        return network.evaluate(self._network, weights, self._env.expand(seen), self._env.privileges(seen), self._dtype)

    def _gradient_step(self, learner: Learner, batch: Batch, *, rates: Rates) -> tuple[Learner, Said]:
        gradient, said = jax.grad(self.loss, has_aux=True)(learner.weights, batch, rates)
        norm = optax.tree.norm(gradient)
        clipped = jnp.minimum(self._training.max_grad_norm / (norm + _LEAST_NORM), 1)
        gradient = jax.tree.map(lambda each: each * clipped, gradient)
        steps, moments = _ADAM.update(gradient, learner.moments)
        weights = jax.tree.map(lambda weight, step: weight - rates.learning_rate * step, learner.weights, steps)
        return Learner(weights, moments, learner.scale), said._replace(grad_norm=norm)

    def loss(self, weights: Weights, batch: Batch, rates: Rates) -> tuple[Array, Said]:
        """The loss of a batch whose targets are scaled and whose advantages are normalised."""
        training = self._training
        logits, values = self._evaluated(weights, batch.seen)
        log_probs = jax.nn.log_softmax(logits)
        probs = jnp.exp(log_probs)
        log_ratio = jnp.take_along_axis(log_probs, batch.action[:, None], axis=1)[:, 0] - batch.log_prob
        ratio = jnp.exp(log_ratio)
        clipped = jnp.clip(ratio, 1 - rates.clip_eps, 1 + rates.clip_eps)
        policy_loss = -jnp.minimum(ratio * batch.advantage, clipped * batch.advantage).mean()
        value_loss = jnp.square(values - batch.target).mean()
        entropy = -(probs * log_probs).sum(axis=1).mean()
        penalty = training.entropy_floor_coef * jnp.maximum(training.entropy_floor - entropy, 0)
        loss = policy_loss + training.value_coef * value_loss - rates.entropy_coef * entropy + penalty
        return loss, Said(
            policy_loss=policy_loss,
            value_loss=value_loss,
            entropy=entropy,
            approx_kl=(ratio - 1 - log_ratio).mean(),
            clip_fraction=(jnp.abs(ratio - 1) > rates.clip_eps).mean(),
            entropy_floor_penalty=penalty,
            grad_norm=jnp.float32(0),  # known once there is a gradient
            action_probs=probs.mean(axis=0),
        )


def first_learner(weights: Mapping[str, Any]) -> Learner:
    """A learner with these weights that has learned nothing."""
    moments = jax.eval_shape(_ADAM.init, weights)
    return Learner(weights, jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), moments), popart.first_scale())


def head_of(weights: Weights) -> Head:
    """The value head."""
    return Head(weights["value.weight"], weights["value.bias"])


def with_head(weights: Weights, head: Head) -> Weights:
    """The weights with another value head."""
    return {**weights, "value.weight": head.weight, "value.bias": head.bias}

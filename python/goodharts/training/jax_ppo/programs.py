"""The compiled programs of a run: the games of its beginning, playing, and learning by ``worldkit.ppo``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]
from jax import Array
from numpy.typing import NDArray

from goodharts.architecture import NetworkConfig
from goodharts.config import Training
from goodharts.training.jax_ppo import network
from goodharts.training.jax_ppo.network import Weights
from worldkit.jax.background_compile import compile_in_background
from worldkit.jax.env import JaxEnv, State
from worldkit.jax.trace_cache import load_or_trace
from worldkit.ppo.config import BATCH, TrainConfig
from worldkit.ppo.masked_ppo import EpisodeInfo, LossStats, Rates, Samples, make_optimizer
from worldkit.ppo.rollout import RunnerState, collect_rollout, samples_of
from worldkit.ppo.train_state import TrainState
from worldkit.ppo.update import learn as learn_from
from worldkit.ppo.value_heads import FIRST_SCALE, POPART, ValueScale, moved
from worldkit.threefry import seed_pair

_ACTIONS, _ORDER = range(2)
"""What keys are for."""
_AT_RUN_TIME = (
    *("engine", "seed", "updates"),
    *("learning_rate", "learning_rate_final", "eps_clip", "eps_clip_final", "entropy_initial", "entropy_final"),
)
"""The settings that come as arguments, and compile nothing anew."""


class Learner(NamedTuple):
    """What learns, as checkpoints have it. moments: Adam's."""

    weights: Weights
    moments: Any
    scale: ValueScale


class Gained(NamedTuple):
    """What an episode has brought so far: steps, food and poison int32, reward float32."""

    steps: Array
    reward: Array
    food: Array
    poison: Array


class Playing(NamedTuple):
    """Games, and their episodes so far, as checkpoints have them."""

    game: State
    gained: Gained


Ended = tuple[Array, EpisodeInfo | None]
"""Which steps of a rollout ended an episode, bool (steps, games), and the episodes of all."""


class Moment(NamedTuple):
    """Where in a run a program is called: uint32 (2,), the low and high word of its seed, and uint32 ()."""

    seed: Array | NDArray[np.uint32]
    update: Array | np.uint32

    def key(self, purpose: int) -> Array:
        """The key of a purpose at this moment."""
        key: Array = jax.random.key(self.seed[0])
        for number in (self.seed[1], self.update, purpose):
            key = jax.random.fold_in(key, number)
        return key


class Programs(NamedTuple):
    """What a run calls. games: those of its beginning."""

    games: Playing
    play: Callable[[Learner, Playing, Moment], tuple[Playing, Samples, Ended]]
    learn: Callable[[Learner, Samples, Rates, Moment], tuple[Learner, LossStats]]


def moment(seed: int, update: int) -> Moment:
    """The moment of an update, counted from 0."""
    return Moment(np.array(seed_pair(seed), np.uint32), np.uint32(update))


def first_learner(weights: Mapping[str, Any]) -> Learner:
    """A learner with these weights that has learned nothing."""
    moments = jax.eval_shape(optax.scale_by_adam().init, weights)
    return Learner(weights, jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), moments), FIRST_SCALE)


def train_config(training: Training) -> TrainConfig:
    """The settings as ``worldkit`` has them; those of schedules come as ``Rates`` instead."""
    return TrainConfig(
        num_envs=training.n_envs,
        num_steps=training.steps_per_env,
        gamma=training.gamma,
        gae_lambda=training.gae_lambda,
        num_minibatches=training.minibatches,
        update_epochs=training.k_epochs,
        clip_value_loss=False,
        vf_coef=2 * training.value_coef,  # of half the squared error
        entropy_floor=training.entropy_floor,
        entropy_floor_coef=training.entropy_floor_coef,
        normalize_advantage=BATCH,
        value_head=POPART,
        popart_beta=training.popart_beta,
        diagnostics=True,
    )


def rescaled(weights: Weights, before: ValueScale, after: ValueScale) -> Weights:
    """The weights whose values on the scale ``after`` are those that they had on the scale ``before``."""
    weight, bias = moved(weights["value.weight"], weights["value.bias"], before, after)
    return {**weights, "value.weight": weight, "value.bias": bias}


def compiled(env: JaxEnv, training: Training, shape: NetworkConfig, dtype: str, learner: Learner) -> Programs:
    """The programs of a run with these settings.

    dtype: of matrix products. learner: one of the run's, for its shapes.
    """
    settings = {name: value for name, value in dataclasses.asdict(training).items() if name not in _AT_RUN_TIME}
    about = [env.name, str(sorted(settings.items())), str(shape), dtype]
    config, packages = train_config(training), env.packages
    apply, optimizer = partial(network.apply, shape, dtype), make_optimizer(None, training.max_grad_norm)

    def state_of(learner: Learner) -> TrainState:
        opt_state = (optax.EmptyState(), learner.moments)
        return TrainState(0, learner.weights, opt_state, apply, optimizer, learner.scale)

    def play(learner: Learner, games: Playing, now: Moment) -> tuple[Playing, Samples, Ended]:
        steps, reward, *eaten = games.gained
        counts = dict(zip(env.counted_events, eaten, strict=True))
        runner = RunnerState(state_of(learner), games.game, steps, reward, now.key(_ACTIONS), counts)
        runner, transitions, _ = collect_rollout(runner, config, env)
        samples = samples_of(runner, transitions._replace(episode=None), config, env)
        gained = Gained(
            runner.episode_steps, runner.episode_return, *(runner.event_counts[name] for name in env.counted_events)
        )
        return Playing(runner.env_state, gained), samples, (transitions.done, transitions.episode)

    def learn(learner: Learner, samples: Samples, rates: Rates, now: Moment) -> tuple[Learner, LossStats]:
        key = now.key(_ORDER)
        state, stats = learn_from(state_of(learner), samples, key, config, env, rates=rates, rescale=rescaled)
        assert state.value_scale is not None
        return Learner(state.params, state.opt_state[1], state.value_scale), stats

    def new_games(seeds: Array) -> Playing:
        nothing = jnp.zeros(len(seeds), jnp.int32)
        return Playing(jax.vmap(env.reset)(seeds), Gained(nothing, nothing.astype(jnp.float32), nothing, nothing))

    seeds = env.initial_seeds(training.seed, training.n_envs)
    begin = load_or_trace(jax.jit(new_games), seeds, about=["begin", env.name], packages=packages)
    with compile_in_background(2) as executor:
        games = executor.submit(lambda: begin.compile()(seeds))
        now = moment(training.seed, 0)
        playing = load_or_trace(jax.jit(play), learner, begin.results, now, about=["play", *about], packages=packages)
        play_it = executor.submit(playing.compile)
        rates = Rates(*(jax.ShapeDtypeStruct((), jnp.float32) for _ in Rates._fields))  # type: ignore[arg-type]
        samples = playing.results[1]
        learning = load_or_trace(
            jax.jit(learn), learner, samples, rates, now, about=["learn", *about], packages=packages
        )
        learn_it = learning.compile()
        return Programs(games.result(), play_it.result(), learn_it)

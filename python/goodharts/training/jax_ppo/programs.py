"""The compiled programs of a run: the games of its beginning, playing, and learning."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from goodharts.architecture import NetworkConfig
from goodharts.config import Training
from goodharts.jax_training import GoodhartsJaxEnv
from goodharts.training.jax_ppo.learning import Actor, Batch, Ended, Gained, Learner, Playing, Said, Update
from goodharts.training.rates import Rates
from worldkit.jaxkit.background_compile import compile_in_background
from worldkit.jaxkit.trace_cache import load_or_trace
from worldkit.threefry import seed_pair

_ACTIONS, _ORDER = range(2)
"""What keys are for."""
_AT_RUN_TIME = (
    *("engine", "seed", "updates"),
    *("learning_rate", "learning_rate_final", "eps_clip", "eps_clip_final", "entropy_initial", "entropy_final"),
)
"""The settings that come as arguments, and compile nothing anew."""


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
    play: Callable[[Actor, Playing, Moment], tuple[Playing, Batch, Ended]]
    learn: Callable[[Learner, Batch, Rates, Moment], tuple[Learner, Said, Array]]


def moment(seed: int, update: int) -> Moment:
    """The moment of an update, counted from 0."""
    return Moment(np.array(seed_pair(seed), np.uint32), np.uint32(update))


def compiled(
    env: GoodhartsJaxEnv, training: Training, network: NetworkConfig, dtype: str, learner: Learner
) -> Programs:
    """The programs of a run with these settings; see ``Update``. learner: one of the run's, for its shapes."""
    update = Update(env, training, network, dtype)
    settings = {name: value for name, value in dataclasses.asdict(training).items() if name not in _AT_RUN_TIME}
    about = [env.name, str(sorted(settings.items())), str(network), dtype]

    def play(actor: Actor, games: Playing, now: Moment) -> tuple[Playing, Batch, Ended]:
        return update.play(actor, games, now.key(_ACTIONS))

    def learn(learner: Learner, batch: Batch, rates: Rates, now: Moment) -> tuple[Learner, Said, Array]:
        return update.learn(learner, batch, rates, now.key(_ORDER))

    seeds = env.initial_seeds(training.seed, training.n_envs)

    def new_games(seeds: Array) -> Playing:
        nothing = jnp.zeros(len(seeds), jnp.int32)
        return Playing(jax.vmap(env.reset)(seeds), Gained(nothing.astype(jnp.float32), nothing, nothing))

    begin = load_or_trace(jax.jit(new_games), seeds, about=["begin", env.name], packages=env.packages)
    with compile_in_background(2) as executor:
        games = executor.submit(lambda: begin.compile()(seeds))
        now, actor = moment(training.seed, 0), Actor(learner.weights, learner.scale)
        playing = load_or_trace(jax.jit(play), actor, begin.results, now, about=["play", *about], packages=env.packages)
        play_it = executor.submit(playing.compile)
        rates = Rates(*(jax.ShapeDtypeStruct((), jnp.float32) for _ in Rates._fields))  # type: ignore[arg-type]
        batch = playing.results[1]
        learning = load_or_trace(
            jax.jit(learn), learner, batch, rates, now, about=["learn", *about], packages=env.packages
        )
        learn_it = learning.compile()
        return Programs(games.result(), play_it.result(), learn_it)

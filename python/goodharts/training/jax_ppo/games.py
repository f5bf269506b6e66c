"""The games as the trainer's parts of ``worldkit.purejaxrl`` play them."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from goodharts.jax_env import observation
from goodharts.jax_env.env import Game
from goodharts.jax_env.observation import View
from goodharts.jax_env.state import State
from goodharts.jax_env.tables import Variant
from goodharts.rules import (
    ACTIONS,
    COMPONENT_UNIT,
    COMPONENTS,
    DEFAULT_MODE,
    DEFAULT_NUMBERS,
    MODES,
    OBSERVATION_SHAPE,
    VERSION,
    Mode,
    Numbers,
)
from worldkit.jaxkit.batching import batch_native
from worldkit.jaxkit.threefry import Seed
from worldkit.purejaxrl.train_env import TrainEnv, TrainStep
from worldkit.threefry import seed_pair, threefry2x32

_KEYS_EVENT = 2**32 - 1
"""The event whose draws are the keys of a run's games (G10)."""


class Gained(NamedTuple):
    """What an episode has brought so far: reward float32, food and poison int32."""

    reward: Array
    food: Array
    poison: Array


class Playing(NamedTuple):
    """A game, and its episode so far."""

    game: State
    gained: Gained


class Seen(NamedTuple):
    """An observation as rollouts keep it, 96 bytes: rows of bits, and the episode's food and poison, int32."""

    view: View
    counts: Array


class Told(NamedTuple):
    """What a step says of an episode, which counts where it ``ended``."""

    ended: Array
    terminated: Array
    length: Array
    gained: Gained


class TrainingGames(TrainEnv):
    """Games of a mode in training. numbers: of their world."""

    rules_version = VERSION
    num_actions = len(ACTIONS)
    observation_shape = OBSERVATION_SHAPE
    low, high = 0.0, 1.0
    components = COMPONENTS
    component_unit = COMPONENT_UNIT
    can_truncate = True
    packages = ("goodharts",)

    def __init__(self, mode: Mode, numbers: Numbers = DEFAULT_NUMBERS) -> None:
        self._variant = Variant(mode, numbers=numbers)
        self.name = f"goodharts-{mode.name}" if numbers == DEFAULT_NUMBERS else f"goodharts-{mode.name} with {numbers}"
        self._game = Game(self._variant)
        self._look = batch_native(observation.look)

    def reset(self, seed: Array) -> Playing:
        return Playing(self._game.reset(Seed(seed[0], seed[1])), _nothing())

    def play(self, state: Playing, action: Array) -> TrainStep:
        game, outcome = self._game.step(state.game, action)
        gained = Gained(
            state.gained.reward + outcome.reward,
            state.gained.food + outcome.ate_food,
            state.gained.poison + outcome.ate_poison,
        )
        after = Playing(game, gained)
        # who dies in the last step of an episode is dead, and there is nothing to look ahead to
        truncated = outcome.truncated & ~outcome.terminated
        return TrainStep(after, outcome.reward, outcome.components, outcome.terminated, truncated, after)

    def restart(self, state: Playing) -> Playing:
        return self._restarted(state, jnp.array(True))

    def step(self, state: Playing, action: Array, truncate: Array | None = None) -> TrainStep:
        step = self.play(state, action)
        if truncate is not None:
            step = step._replace(truncated=step.truncated | (truncate & ~step.terminated))
        return step._replace(state=self._restarted(step.final, step.terminated | step.truncated))

    def observe(self, state: Playing) -> Array:
        return self._game.observe(state.game)

    def compact(self, state: Playing) -> Seen:
        game = state.game
        return Seen(self._look(game), jnp.stack([game.food_count, game.poison_count]))

    def expand(self, compact: Seen) -> Array:
        return observation.shown(self._variant, compact.view)

    def privileges(self, seen: Seen) -> Array:
        """What a privileged critic knows beside an observation (G8): float32 (n, PRIVILEGES).

        Counts are scaled from their range in training to [-1, 1], and 0 where there is only one.
        """
        numbers = self._variant.numbers
        least = np.array([numbers.min_food, numbers.min_poison], np.float32)
        span = np.array([numbers.max_food, numbers.max_poison], np.float32) - least
        counts = jnp.where(span > 0, 2 * (seen.counts - least) / np.maximum(span, 1) - 1, 0)
        truth = observation.shown(Variant(MODES[DEFAULT_MODE]), seen.view)
        return jnp.concatenate([counts, truth.reshape(len(truth), -1)], axis=1)

    def told(self, step: TrainStep) -> Told:
        final: Playing = step.final
        return Told(step.terminated | step.truncated, step.terminated, final.game.steps.low, final.gained)

    def initial_seeds(self, seed: int, num_games: int) -> Array:
        # in numpy, where it takes no time: in JAX each operation would be compiled for it
        low, high = (np.full(num_games, half, np.uint32) for half in seed_pair(seed))
        numbers = np.arange(1, num_games + 1, dtype=np.uint32)
        return np.stack(threefry2x32((low, high), (np.full_like(numbers, _KEYS_EVENT), numbers)), axis=1)  # type: ignore[return-value]

    def _restarted(self, state: Playing, wanted: Array) -> Playing:
        """A new episode where ``wanted``, so that only those that end cost one."""
        gained = jax.tree.map(lambda fresh, old: jnp.where(wanted, fresh, old), _nothing(), state.gained)
        return Playing(self._game.restart(state.game, wanted), gained)


def _nothing() -> Gained:
    return Gained(jnp.float32(0), jnp.int32(0), jnp.int32(0))

"""Goodharts as a ``JaxEnv``: its JAX engine, with the inputs of a privileged critic."""

from collections.abc import Mapping
from functools import cache, partial
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from goodharts import rules
from goodharts.architecture import PRIVILEGES
from goodharts.config import Config
from goodharts.jax_env import env as game
from goodharts.jax_env import grid, observation, rewards, state_dict
from goodharts.jax_env.observation import ViewRows
from goodharts.jax_env.state import State
from goodharts.jax_env.tables import PRICES, Variant
from goodharts.rules import DEFAULT_NUMBERS, MODES, Mode, Numbers
from goodharts.world import GROUND_TRUTH, game_seeds
from rlparity import State as StateDict
from rlparity.threefry import seed_pairs
from rlworldkit.jax.batching import batch_native
from rlworldkit.jax.env import Encoder, JaxEnv, StepOutput
from rlworldkit.jax.int64_pair import Int64Pair
from rlworldkit.jax.threefry import Seed


class CompactObservation(NamedTuple):
    """Observation as rollouts store it, 96 bytes: rows of bits, and the episode's food and poison, int32 (2,)."""

    view: ViewRows
    counts: Array


class GoodhartsJaxEnv(JaxEnv, world=GROUND_TRUTH):
    """One mode of Goodharts in JAX. Observations are float32 (2, 11, 11) in [0, 1] (G7), actions 0-7 (G4).

    numbers: of its world (G9). evaluating: by the rules of an evaluation, where the next game of one that ended is its
    agent's next life (G6).
    """

    can_truncate = True
    num_privileges = PRIVILEGES
    packages = ("goodharts",)

    def __init__(self, mode: Mode, numbers: Numbers = DEFAULT_NUMBERS, evaluating: bool = False) -> None:
        self._variant = variant = Variant(mode, evaluating, numbers)
        self.name = f"goodharts-{mode.name}{' in an evaluation' if evaluating else ''}"
        if numbers != DEFAULT_NUMBERS:
            self.name += f" with {numbers}"
        self.prices = PRICES[mode.rewarded_for]
        self.marks = tuple(rules.marks_of(mode, evaluating=evaluating))
        following = game.respawn if evaluating else game.restart
        self._following = batch_native(partial(following, variant))
        self._step = batch_native(partial(game.step, variant))
        self._reset = batch_native(partial(game.reset, variant))
        self._observe = batch_native(partial(observation.observe, variant))
        self._look = batch_native(observation.look)

    def reset(self, seed: Array) -> State:
        return self._reset(Seed(seed[0], seed[1]))

    def step(self, state: State, action: Array) -> StepOutput:
        after, outcome = self._step(state, action)
        components = rewards.components(outcome.events, outcome.shaping, self.prices)
        return StepOutput(
            state=after,
            reward=rewards.total(components, self._variant.numbers.reward_clip),
            components=components,
            terminated=outcome.events.died,
            truncated=outcome.truncated,
            final=after,
            events=dict(zip(rules.EVENTS, outcome.events, strict=True)),
        )

    def next_game(self, state: State) -> State:
        return self._following(state, jnp.array(True))

    def step_autoreset(self, state: State, action: Array, truncate: Array | None = None) -> StepOutput:
        step = self.step(state, action)
        truncated = step.truncated if truncate is None else step.truncated | (truncate & ~step.terminated)
        # only games that end cost a new episode
        return step._replace(state=self._following(step.final, step.terminated | truncated), truncated=truncated)

    def observe(self, state: State) -> Array:
        return self._observe(state)

    def seed(self, state: State) -> Array:
        return jnp.stack(state.key)

    def reseed(self, state: State, seed: Array) -> State:
        return state._replace(key=Seed(seed[0], seed[1]))

    def compact(self, state: State) -> CompactObservation:
        return CompactObservation(self._look(state), jnp.stack([state.food_count, state.poison_count]))

    def expand(self, compact: CompactObservation) -> Array:
        return observation.observation_of(self._variant, compact.view)

    def privileges(self, compact: CompactObservation) -> Array:
        """Return the inputs of a privileged critic beside an observation (G8): float32 (n, PRIVILEGES).

        Counts are scaled from their range in training to [-1, 1], and are 0 where the range has only one value.
        """
        numbers = self._variant.numbers
        least = np.array([numbers.min_food, numbers.min_poison], np.float32)
        span = np.array([numbers.max_food, numbers.max_poison], np.float32) - least
        counts = jnp.where(span > 0, 2 * (compact.counts - least) / np.maximum(span, 1) - 1, 0)
        truth = observation.observation_of(Variant(rules.MODES[rules.DEFAULT_MODE]), compact.view)
        return jnp.concatenate([counts, truth.reshape(len(truth), -1)], axis=1)

    def networks(self) -> Mapping[str, Encoder | None]:
        from goodharts.networks import NETWORKS  # here: Flax takes long to import

        return NETWORKS

    def to_dict(self, state: State) -> StateDict:
        return state_dict.to_dict(state)

    def from_dict(self, state: StateDict) -> State:
        return state_dict.from_dict(state)

    def arrays(self, state: State) -> Mapping[str, Array | Int64Pair]:
        same = ("x", "y", "event", "energy", "steps", "food_count", "poison_count")
        return {
            "grid": grid.flags(state.food) + 2 * grid.flags(state.poison),
            "key": jnp.stack(state.key),
            **{name: getattr(state, name) for name in same},
        }

    def facts(self, state: State) -> tuple[Int64Pair, ...]:
        return state.energy, state.steps

    def initial_seeds(self, seed: int, num_games: int) -> Array:
        # in numpy, where it takes no time: in JAX each operation would be compiled for it
        return seed_pairs(game_seeds(seed, num_games))  # type: ignore[return-value]


@cache
def env_of(mode: Mode, numbers: Numbers = DEFAULT_NUMBERS, evaluating: bool = False) -> GoodhartsJaxEnv:
    """Return the environment of all engines of a mode in this process, so that they share compiled programs."""
    return GoodhartsJaxEnv(mode, numbers, evaluating)


def env_by(config: Config, mode: str) -> GoodhartsJaxEnv:
    """Return the environment in which a configuration trains a mode."""
    return env_of(MODES[mode], config.numbers()).with_prices(np.array(config.price_values(mode), np.int32))

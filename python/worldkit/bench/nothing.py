"""An environment that costs nothing, in the shapes of a world: a trainer's speed with it is the trainer's own."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from worldkit.jax.env import Compact, JaxEnv, StepOutput


class Moment(NamedTuple):
    """All that a step tells of one game, as the world tells it.

    It is carried along, since of constants XLA would compute what follows from them when it compiles.
    """

    shown: Compact
    mask: Array
    reward: Array
    components: Array
    terminated: Array
    truncated: Array


class Nothing(NamedTuple):
    """A game of ``NothingEnv``: two moments that take turns, and are the same.

    XLA does not know that they are. It would ask the network only once about a moment that never gives way to another.
    """

    now: Moment
    next: Moment


_SHARED = (
    *("num_actions", "observation_shape", "low", "high", "components", "component_unit", "counted_events"),
    *("can_truncate", "num_privileges", "expand", "privileges", "sort_key", "networks", "initial_seeds"),
)
"""What the environment has of its world as it is."""


class NothingEnv(JaxEnv):
    """The first moment of a world's games for ever: their observation and mask, no reward, no end.

    A rollout of it keeps the same arrays as one of the world, and the network reads the same numbers. Only the metrics
    that a world adds to those of every run are missing.
    """

    def __init__(self, world: JaxEnv) -> None:
        self._world = world
        self.name = f"nothing in the shapes of {world.name}"
        for name in _SHARED:
            setattr(self, name, getattr(world, name))

    def reset(self, seed: Array) -> Nothing:
        game = self._world.reset(seed)
        step = jax.eval_shape(self._world.step, game, jnp.int32(0))
        never = jnp.bool_(False)
        moment = Moment(
            shown=self._world.compact(game),
            mask=self._world.mask(game),
            reward=jnp.zeros((), step.reward.dtype),
            components=jnp.zeros(step.components.shape, step.components.dtype),
            terminated=never,
            truncated=never,
        )
        return Nothing(moment, moment)

    def step(self, state: Nothing, action: Array) -> StepOutput:
        after, told = Nothing(state.next, state.now), state.now
        none = dict.fromkeys(self.counted_events, jnp.bool_(False))
        return StepOutput(after, told.reward, told.components, told.terminated, told.truncated, after, none)

    def next_game(self, state: Nothing) -> Nothing:
        return state

    def observe(self, state: Nothing) -> Array:
        return self.expand(self.compact(state))

    def mask(self, state: Nothing) -> Array:
        return state.now.mask

    def compact(self, state: Nothing) -> Compact:
        return state.now.shown

"""An environment that costs nothing, in the shapes of a world: a trainer's speed with it is the trainer's own."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from rlworldkit.jax.env import Compact, JaxEnv, StepOutput


class ConstantStep(NamedTuple):
    """All that a step tells of one game, as the world tells it.

    It is carried along, since of constants XLA would compute what follows from them when it compiles.
    """

    shown: Compact
    mask: Array
    reward: Array
    components: Array
    terminated: Array
    truncated: Array


class ConstantState(NamedTuple):
    """A game of ``ConstantEnv``: two moments that take turns, and are the same.

    XLA does not know that they are. It would ask the network only once about a moment that never gives way to another.
    """

    now: ConstantStep
    next: ConstantStep


_SHARED = (
    *("num_actions", "observation_shape", "low", "high", "components", "component_unit", "counted_events"),
    *("can_truncate", "num_privileges", "expand", "privileges", "sort_key", "networks", "initial_seeds"),
)
"""Attributes that the environment takes over from its world."""


class ConstantEnv(JaxEnv):
    """The first moment of a world's games for ever: their observation and mask, no reward, no end.

    A rollout of it keeps the same arrays as one of the world, and the network reads the same numbers. Only the metrics
    that a world adds to those of every run are missing.
    """

    def __init__(self, world: JaxEnv) -> None:
        self._world = world
        self.name = f"nothing in the shapes of {world.name}"
        for name in _SHARED:
            setattr(self, name, getattr(world, name))

    def reset(self, seed: Array) -> ConstantState:
        game = self._world.reset(seed)
        step = jax.eval_shape(self._world.step, game, jnp.int32(0))
        never = jnp.bool_(False)
        moment = ConstantStep(
            shown=self._world.compact(game),
            mask=self._world.mask(game),
            reward=jnp.zeros((), step.reward.dtype),
            components=jnp.zeros(step.components.shape, step.components.dtype),
            terminated=never,
            truncated=never,
        )
        return ConstantState(moment, moment)

    def step(self, state: ConstantState, action: Array) -> StepOutput:
        after, current = ConstantState(state.next, state.now), state.now
        none = dict.fromkeys(self.counted_events, jnp.bool_(False))
        return StepOutput(after, current.reward, current.components, current.terminated, current.truncated, after, none)

    def next_game(self, state: ConstantState) -> ConstantState:
        return state

    def observe(self, state: ConstantState) -> Array:
        return self.expand(self.compact(state))

    def mask(self, state: ConstantState) -> Array:
        return state.now.mask

    def compact(self, state: ConstantState) -> Compact:
        return state.now.shown

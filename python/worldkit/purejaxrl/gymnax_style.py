"""Any world as a Gymnax-style environment: keys in, observations out, auto-reset inside, an optional time limit.

All methods work on one game; batch them with ``jax.vmap``. States carry the game, never float
observations: what a caller does not use of a step, XLA removes.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from parity.errors import UsageError
from worldkit.purejaxrl.train_env import State, TrainEnv, TrainStep


class EnvParams(NamedTuple):
    """Parameters of the environment in Gymnax's sense: a world has none."""


class EnvState(NamedTuple):
    """One game in progress: the world's state and the steps played in this episode (int32)."""

    game: State
    steps: Array


class GymnaxStyle:
    """``env`` with Gymnax's interface: ``reset``, ``step`` and ``get_action_mask``.

    ``max_steps`` truncates an episode after that many steps; None never does, and costs nothing.
    A finished episode is replaced at once by the game that follows it.
    """

    def __init__(self, env: TrainEnv, max_steps: int | None = None) -> None:
        if max_steps is not None and max_steps < 1:
            raise UsageError(f"max_steps must be at least 1, got {max_steps}; leave it out for no limit.")
        self.env = env
        self.max_steps = max_steps

    @property
    def default_params(self) -> EnvParams:
        """The (empty) parameters that ``reset`` and ``step`` take."""
        return EnvParams()

    @property
    def reward_names(self) -> tuple[str, ...]:
        """The reward components, in order."""
        return self.env.components

    @property
    def num_actions(self) -> int:
        """How many actions there are, valid or not."""
        return self.env.num_actions

    @property
    def observation_size(self) -> int:
        """How many numbers an observation has."""
        return self.env.observation_size

    def reset(self, key: Array, params: EnvParams | None = None) -> tuple[Array, EnvState]:
        """Start a game whose seed is drawn from ``key``; returns (observation, state)."""
        state = self.reset_from_seed(jax.random.bits(key, (2,), jnp.uint32))
        return self.observe(state), state

    def reset_from_seed(self, seed: Array) -> EnvState:
        """Start the game of ``seed``, uint32 (2,): low and high word."""
        return EnvState(self.env.reset(seed), jnp.int32(0))

    def step(
        self, key: Array, state: EnvState, action: Array, params: EnvParams | None = None
    ) -> tuple[Array, EnvState, Array, Array, dict[str, Any]]:
        """Play one action; returns (obs, state, reward, done, info), auto-reset included.

        ``key`` is unused: a game draws from its own seed. ``obs`` and ``state`` are those of
        the next game where the episode ended. ``info`` speaks of the step itself:
        ``reward_breakdown`` (float32 by component, reward units), ``terminated``, ``truncated``, what the world
        says of a step, and ``terminal_observation``: what the episode itself shows after the action, which is
        ``obs`` unless the episode ended.
        """
        following, step = self.play(state, action)
        done = step.terminated | step.truncated
        obs = self.observe(following)
        earned = jax.vmap(self.env.reward)(jnp.diag(step.components))
        info = {
            "reward_breakdown": dict(zip(self.reward_names, earned, strict=True)),
            "terminated": step.terminated,
            "truncated": step.truncated,
            "terminal_observation": jnp.where(done, self.env.observe(step.final), obs),
            **self.env.info(step),
        }
        return obs, following, step.reward, done, info

    def play(self, state: EnvState, action: Array) -> tuple[EnvState, TrainStep]:
        """Play one action as ``step`` does, without observing anything."""
        steps = state.steps + 1
        truncate = None if self.max_steps is None else steps >= self.max_steps
        step = self.env.step(state.game, action, truncate)
        return EnvState(step.state, jnp.where(step.terminated | step.truncated, 0, steps)), step

    def get_action_mask(self, state: EnvState) -> Array:
        """The valid actions, bool (actions,)."""
        return self.env.mask(state.game)

    def observe(self, state: EnvState) -> Array:
        """The observation, float32."""
        return self.env.observe(state.game)

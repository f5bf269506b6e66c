"""Gymnax-style environment of any world: keys in, observations out, auto-reset inside, an optional time limit.

All methods work on one game; batch them with ``jax.vmap``. States carry the game, never float
observations; XLA removes the parts of a step that a caller does not use.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.interpreters.xla
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax import Array

from rlparity.errors import UsageError
from rlworldkit.jax.categorical import restore_aval_table
from rlworldkit.jax.env import JaxEnv, State, StepOutput

if TYPE_CHECKING:
    from gymnax.environments import spaces

restore_aval_table(jax.interpreters.xla)  # trainers written for such environments import distrax

NO_LIMIT = 2**31 - 1


class EnvParams(struct.PyTreeNode):
    """Parameters of the environment in Gymnax's sense; ``replace`` returns a changed copy.

    max_steps_in_episode: an episode is truncated after this many steps; NO_LIMIT: never.
    prices: prices of the reward, as ``rlparity.World.price_values``; empty: the environment's own.
    """

    max_steps_in_episode: int | Array = NO_LIMIT
    prices: tuple[int | Array, ...] = ()


class EnvState(NamedTuple):
    """One game: the world's state and the steps played in this episode (int32).

    terminated, truncated: how the episode ended (bool). Both are false after auto-reset, which starts the next game.
    """

    game: State
    steps: Array
    terminated: Array
    truncated: Array


class GymnaxStyle:
    """``env`` with Gymnax's interface: ``reset``, ``step``, the spaces and, beyond Gymnax, ``get_action_mask``.

    ``max_steps`` truncates an episode after that many steps, unless the ``params`` handed to ``step`` say otherwise;
    None never truncates, and costs nothing. The next game replaces a finished one in the same step.

    Attributes: ``name``, ``reward_names`` (the components), ``num_actions`` and ``observation_size`` (in numbers).
    Environments, params and states can be copied and pickled. The spaces are gymnax's (``pip install gymnax``).
    """

    def __init__(self, env: JaxEnv, max_steps: int | None = None) -> None:
        if max_steps is not None and max_steps < 1:
            raise UsageError(f"max_steps must be at least 1, got {max_steps}; leave it out for no limit.")
        self.env = env
        self.max_steps = max_steps
        self.name, self.reward_names = env.name, env.components
        self.num_actions, self.observation_size = env.num_actions, env.observation_size

    @property
    def default_params(self) -> EnvParams:
        """The parameters that ``reset`` and ``step`` use if they are given none."""
        prices = tuple(np.asarray(self.env.prices).tolist())
        return EnvParams(NO_LIMIT if self.max_steps is None else self.max_steps, prices)

    def action_space(self, params: EnvParams | None = None) -> "spaces.Discrete":
        """Return the space of all actions, valid or not."""
        from gymnax.environments import spaces

        return spaces.Discrete(self.num_actions)

    def observation_space(self, params: EnvParams | None = None) -> "spaces.Box":
        """Return the space of observations: float32 in the world's range."""
        from gymnax.environments import spaces

        return spaces.Box(self.env.low, self.env.high, self.env.observation_shape, jnp.float32)

    def reset(self, key: Array, params: EnvParams | None = None) -> tuple[Array, EnvState]:
        """Start a game whose seed is drawn from ``key``; returns (observation, state)."""
        state = self.reset_from_seed(jax.random.bits(key, (2,), jnp.uint32))
        return self.observe(state), state

    def reset_from_seed(self, seed: Array) -> EnvState:
        """Start the game of ``seed``, uint32 (2,): low and high word."""
        return _in_progress(self.env.reset(seed), jnp.int32(0))

    def step(
        self, key: Array, state: EnvState, action: Array | int, params: EnvParams | None = None
    ) -> tuple[Array, EnvState, Array, Array, dict[str, Any]]:
        """Play one action; returns (obs, state, reward, done, info), auto-reset included.

        ``key`` is unused: a game draws from its own seed. ``obs``, ``state`` and ``info["action_mask"]`` are those of
        the next game where the episode ended. The other entries of ``info`` describe the step itself:
        ``reward_breakdown`` (float32 by component, reward units), ``terminated``, ``truncated``, the world's own
        entries (``JaxEnv.info``), and ``terminal_observation``: the observation after the action in the same
        episode, which equals ``obs`` unless the episode ended.
        """
        following, step = self.play(state, action, params)
        done = step.terminated | step.truncated
        obs = self.observe(following)
        earned = jax.vmap(self.env.reward)(jnp.diag(step.components))
        info = {
            "action_mask": self.get_action_mask(following),
            "reward_breakdown": dict(zip(self.reward_names, earned, strict=True)),
            "terminated": step.terminated,
            "truncated": step.truncated,
            "terminal_observation": jnp.where(done, self.env.observe(step.final), obs),
            **self.env.info(step),
        }
        return obs, following, step.reward, done, info

    def play(
        self, state: EnvState, action: Array | int, params: EnvParams | None = None
    ) -> tuple[EnvState, StepOutput]:
        """Play one action as ``step`` does, without computing observations."""
        params = self.default_params if params is None else params
        env = self.env.with_prices(jnp.array(params.prices, jnp.int32)) if params.prices else self.env
        limit = params.max_steps_in_episode
        steps = state.steps + 1
        truncate = None if isinstance(limit, int) and limit == NO_LIMIT else steps >= limit
        step = env.step_autoreset(state.game, jnp.asarray(action, jnp.int32), truncate)
        return _in_progress(step.state, jnp.where(step.terminated | step.truncated, 0, steps)), step

    def get_action_mask(self, state: EnvState) -> Array:
        """Return the valid actions, bool (actions,)."""
        return self.env.mask(state.game)

    def observe(self, state: EnvState) -> Array:
        """Return the observation, float32."""
        return self.env.observe(state.game)


def _in_progress(game: State, steps: Array) -> EnvState:
    return EnvState(game, steps, jnp.bool_(False), jnp.bool_(False))

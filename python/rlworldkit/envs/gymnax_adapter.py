"""Adapter of any world for trainers written for gymnax 1.0 (an optional dependency: ``pip install gymnax``)."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from gymnax.environments import environment, spaces
from jax import Array

from rlworldkit.envs.gymnax_style import EnvParams, EnvState, GymnaxStyle


class GymnaxAdapter(environment.Environment[EnvState, EnvParams]):  # type: ignore[misc]
    """gymnax ``Environment``, with its six-value step, around a ``GymnaxStyle`` environment.

    ``step`` returns (obs, state, reward, terminated, truncated, info); ``info`` has gymnax's
    ``final_observation`` in place of ``terminal_observation``. A game draws from its own seed, so the keys of
    ``step`` are not used.
    """

    def __init__(self, env: GymnaxStyle) -> None:
        self._env = env

    @property
    def default_params(self) -> EnvParams:
        return self._env.default_params

    @partial(jax.jit, static_argnames=("self",))
    def step(
        self, key: Array, state: EnvState, action: int | float | Array, params: EnvParams | None = None
    ) -> tuple[Array, EnvState, Array, Array, Array, dict[Any, Any]]:
        obs, state, reward, _, info = self._env.step(key, state, jnp.asarray(action), params)
        info["final_observation"] = info.pop("terminal_observation")
        return obs, state, reward, info["terminated"], info["truncated"], info

    def reset_env(self, key: Array, params: EnvParams) -> tuple[Array, EnvState]:
        return self._env.reset(key, params)

    def step_env(
        self, key: Array, state: EnvState, action: int | float | Array, params: EnvParams
    ) -> tuple[Array, EnvState, Array, Array, dict[Any, Any]]:
        """Play one action without auto-reset; returns (obs, state, reward, terminated, info)."""
        _, step = self._env.play(state, jnp.asarray(action), params)
        done = step.terminated | step.truncated
        game = jax.tree.map(lambda ended, ongoing: jnp.where(done, ended, ongoing), step.final, step.state)
        played = EnvState(game, state.steps + 1, step.terminated, step.truncated)
        return self._env.observe(played), played, step.reward, step.terminated, dict(step.events)

    def get_obs(self, state: EnvState, params: EnvParams | None = None, key: Array | None = None) -> Array:
        return self._env.observe(state)

    def get_action_mask(self, state: EnvState) -> Array:
        return self._env.get_action_mask(state)

    def is_truncated(self, state: EnvState, params: EnvParams) -> Array:
        """Return whether the time limit or the world cut the episode off in ``state``, as ``step_env`` returned it."""
        return state.truncated

    def is_terminated(self, state: EnvState, params: EnvParams) -> Array:
        return state.terminated

    @property
    def name(self) -> str:
        return self._env.name

    @property
    def num_actions(self) -> int:
        return self._env.num_actions

    def action_space(self, params: EnvParams | None = None) -> spaces.Discrete:
        return self._env.action_space(params)

    def observation_space(self, params: EnvParams | None = None) -> spaces.Box:
        return self._env.observation_space(params)

    def state_space(self, params: EnvParams | None = None) -> EnvState:
        """The shapes and dtypes of a state, as a pytree of ``jax.ShapeDtypeStruct``."""
        shapes: EnvState = jax.eval_shape(lambda key: self._env.reset(key)[1], jax.random.key(0))
        return shapes

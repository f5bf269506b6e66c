"""A learner for any world: MaskablePPO of sb3-contrib over one of its engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from rlparity.agent import Policy, View
from rlparity.core.guard import GuardedEngine
from rlparity.engine import Array
from rlparity.world import World

STEPS_PER_UPDATE = 128
"""Of each game."""


def flat(observation: Array) -> NDArray[np.float32]:
    """Observations (n, …) as rows of numbers (n, k); of structured ones the fields follow one another."""
    names = observation.dtype.names
    parts = [observation] if names is None else [observation[name] for name in names]
    rows = [np.reshape(part, (len(observation), -1)).astype(np.float32) for part in parts]
    return np.concatenate(rows, axis=1)


class EngineVecEnv(VecEnv):
    """All games of an engine as SB3 plays them; a game that ends is followed by the world's next one."""

    def __init__(self, world: World, engine: GuardedEngine, seed: int) -> None:
        self.engine, self.all = engine, np.arange(engine.games)
        self._first = flat(engine.reset(world.game_seeds(seed, engine.games), self.all))
        box = gym.spaces.Box(-np.inf, np.inf, self._first.shape[1:], np.float32)
        super().__init__(engine.games, box, gym.spaces.Discrete(len(world.actions)))

    def reset(self) -> NDArray[np.float32]:
        """The first observations (games, k)."""
        return self._first

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions (games,) of the next ``step_wait``."""
        self._actions = actions.astype(np.int32)

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Observations, rewards, ends and infos of the step."""
        step = self.engine.step(self._actions)
        observation, ended = flat(step.observation), step.ended
        infos: list[dict[str, Any]] = [{} for _ in self.all]
        for game in np.flatnonzero(ended):
            is_cut_off = not step.terminated[game]
            infos[game] = {"terminal_observation": observation[game].copy(), "TimeLimit.truncated": is_cut_off}
        if ended.any():
            over = np.flatnonzero(ended)
            observation[over] = flat(self.engine.restart(over))
        return observation, step.reward.astype(np.float32), ended, infos

    def env_method(self, method_name: str, *_: object, **__: object) -> list[Any]:
        """``action_masks`` alone."""
        return [*self.engine.mask()]

    def has_attr(self, attr_name: str) -> bool:
        """Tell MaskablePPO that there are masks."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: object = None) -> list[Any]:
        """No pictures are drawn; SB3 asks for ``render_mode`` alone."""
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: object, indices: object = None) -> None:
        """Nothing can be set: raises AttributeError."""
        raise AttributeError(attr_name)

    def env_is_wrapped(self, wrapper_class: object, indices: object = None) -> list[bool]:
        """No game is wrapped in anything."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Leave the engine to whoever opened it."""


def learned_policy(
    world: World, engine: GuardedEngine, steps: int, seed: int, progress: Callable[[], object]
) -> Policy:
    """The policy that PPO learns in ``steps`` steps; ``progress`` is called after each step of all games."""
    model = MaskablePPO(
        "MlpPolicy",
        EngineVecEnv(world, engine, seed),
        n_steps=STEPS_PER_UPDATE,
        batch_size=256,
        seed=seed,
        device="cpu",
    )

    def goes_on(*_: object) -> bool:
        progress()
        return True

    model.learn(steps, callback=goes_on)

    def policy(view: View) -> Array:
        with torch.no_grad():
            seen = torch.from_numpy(flat(view.observation))
            drawn: Any = model.policy.get_distribution(seen, np.array(view.mask)).distribution
        return drawn.probs.numpy()

    return policy

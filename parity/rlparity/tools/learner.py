"""Policy training for any world: MaskablePPO of sb3-contrib on one of its engines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from rlparity.agent import Policy, View
from rlparity.core.guard import GuardedEngine
from rlparity.engine import Array
from rlparity.tools.sb3_vec_env import BatchVecEnv
from rlparity.world import World

STEPS_PER_UPDATE = 32
"""Steps of each game per policy update (``n_steps`` of PPO)."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Run PyTorch on one thread: on minibatches of a small network, several threads mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def flat(observation: Array) -> NDArray[np.float32]:
    """Flatten observations (n, …) to float32 rows (n, k); the fields of structured arrays are concatenated."""
    names = observation.dtype.names
    parts = [observation] if names is None else [observation[name] for name in names]
    rows = [np.reshape(part, (len(observation), -1)).astype(np.float32) for part in parts]
    return np.concatenate(rows, axis=1)


class EngineVecEnv(BatchVecEnv):
    """SB3 vector environment over all games of an engine; games that end are auto-reset."""

    def __init__(self, world: World, engine: GuardedEngine, seed: int) -> None:
        self.engine, self.all = engine, np.arange(engine.games)
        self._first = flat(engine.reset(world.game_seeds(seed, engine.games), self.all))
        box = gym.spaces.Box(-np.inf, np.inf, self._first.shape[1:], np.float32)
        super().__init__(engine.games, box, gym.spaces.Discrete(len(world.actions)))

    def reset(self) -> NDArray[np.float32]:
        """The first observations (games, k)."""
        return self._first

    def step_async(self, actions: NDArray[Any]) -> None:
        """Store the actions (games,) for the next ``step_wait``."""
        self._actions = actions.astype(np.int32)

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Take the step and return its observations, rewards, ends and infos."""
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

    def action_masks(self) -> NDArray[np.bool_]:
        """The valid actions now (games, actions)."""
        return self.engine.mask()

    def close(self) -> None:
        """Do nothing: the caller that opened the engine closes it."""


@one_thread()
def learned_policy(
    world: World, engine: GuardedEngine, steps: int, seed: int, progress: Callable[[], object]
) -> Policy:
    """Train a policy with PPO for ``steps`` steps; ``progress`` is called after each step of all games."""
    games = EngineVecEnv(world, engine, seed)
    model = MaskablePPO("MlpPolicy", games, n_steps=STEPS_PER_UPDATE, batch_size=256, seed=seed, device="cpu")

    def goes_on(*_: object) -> bool:
        progress()
        return True

    model.learn(steps, callback=goes_on)

    @one_thread()
    def policy(view: View) -> Array:
        with torch.no_grad():
            seen = torch.from_numpy(flat(view.observation))
            drawn: Any = model.policy.get_distribution(seen, np.array(view.mask)).distribution
        return drawn.probs.numpy()

    return policy

"""Stable-Baselines3 vector environment of many games of a world, which one engine steps in one call."""

from collections.abc import Sequence
from typing import Any, Unpack

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from rlparity import State, World
from rlparity.engine import Array
from rlparity.tools.sb3_vec_env import BatchVecEnv
from rlworldkit.envs import infos
from rlworldkit.envs.arguments import check_actions, check_seed
from rlworldkit.envs.episodes import EpisodeOptions, Episodes
from rlworldkit.envs.spaces import action_space, env_id, observation_space
from rlworldkit.render.show import picture_of


class WorldVecEnv(BatchVecEnv):
    """Stable-Baselines3 environment of ``num_envs`` games of a world; see `gym_env.WorldEnv` for one game.

    A game that ends is replaced in the same step by the next one by the world's rule. The info of that step is the old
    game's, with ``terminal_observation``, ``TimeLimit.truncated``, ``episode_stats`` and, for SB3's statistics,
    ``episode`` (r, l, t); ``reset_infos`` has the new game's. With the same seeds the results equal ``DummyVecEnv``
    over single games, except that a scalar observation is an array (1,), since SB3's networks need an axis.

    Args:
        world: the world.
        num_envs: number of games.
        seed: ``reset`` plays the games seed, seed + 1, …, as after ``seed(seed)``; None: random ones.
        options: `episodes.EpisodeOptions`.

    Raises:
        UsageError: an argument is wrong.
        EngineError: the engine cannot start, or fails.
    """

    def __init__(
        self, world: World, num_envs: int, *, seed: int | None = None, **options: Unpack[EpisodeOptions]
    ) -> None:
        self._episodes = Episodes(world, num_envs, **options)
        self.world, self.engine = self._episodes.world, self._episodes.engine
        self.render_mode, self.spec = "rgb_array", gym.registry.get(env_id(world))
        self.metadata = {"render_modes": ["rgb_array"]}
        space = observation_space(world)
        self._lacks_axis = isinstance(space, gym.spaces.Box) and space.shape == ()
        if self._lacks_axis:
            space = gym.spaces.Box(space.low[None], space.high[None], dtype=space.dtype.type)
        super().__init__(num_envs, space, action_space(world))
        if seed is not None:
            self.seed(seed)

    def reset(self) -> Any:  # noqa: ANN401 - an array or a dict of arrays
        """Start an episode in every game."""
        seeds = [check_seed(int(seed)) for seed in self._seeds if seed is not None]
        is_seeded = len(seeds) == self.num_envs
        self._episodes.start(np.arange(self.num_envs), np.array(seeds, np.uint64) if is_seeded else None)
        self.reset_infos = [self._view(game) for game in range(self.num_envs)]
        self._reset_seeds()
        return self._observation()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Start a step with one action for each game, (n,); ``step_wait`` must follow."""
        self._episodes.begin_step(check_actions(actions, self.num_envs, len(self.world.actions)))

    def step_wait(self) -> VecEnvStepReturn:
        """Finish the step; returns observation, rewards float32 (n,), dones bool (n,), infos."""
        episodes, step = self._episodes, self._episodes.finish_step()
        dones = step.terminated | step.truncated
        all_infos = [self._view(game) | infos.step_of_one(episodes, step, game) for game in range(self.num_envs)]
        for game, (info, done) in enumerate(zip(all_infos, dones.tolist(), strict=True)):
            info["TimeLimit.truncated"] = bool(step.truncated[game] and not step.terminated[game])
            if done:
                stats = info["episode_stats"]
                info["terminal_observation"] = self._split(episodes.observation[game, ...].copy())
                info["episode"] = {"r": stats["return"], "l": stats["steps"], "t": 0.0}
        if dones.any():
            ended = np.flatnonzero(dones)
            episodes.start(ended, in_place=True)
            for game in ended.tolist():
                self.reset_infos[game] = self._view(game)
        return self._observation(), step.reward, dones, all_infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the valid actions now, bool (n, actions), from the engine's last answer."""
        return self._episodes.mask

    def get_states(self) -> list[State]:
        """Return the complete states of all games."""
        return self._episodes.get_states()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Draw a picture of every game."""
        return [picture_of(self.world, state) for state in self.get_states()]

    def close(self) -> None:
        """Close the engine."""
        self._episodes.close()

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Return true only for ``Monitor``: games are not wrapped, but their infos have its ``episode`` entry."""
        from stable_baselines3.common.monitor import Monitor

        return [issubclass(wrapper_class, Monitor)] * len(list(self._get_indices(indices)))

    def _view(self, game: int) -> dict[str, Any]:
        return infos.view_of_one(self._episodes, game)

    def _observation(self) -> Any:  # noqa: ANN401 - an array or a dict of arrays
        return self._split(self._episodes.observation)

    def _split(self, observation: Array) -> Any:  # noqa: ANN401 - an array or a dict of arrays
        parts = self.world.split(observation)
        return parts[..., None] if self._lacks_axis else parts

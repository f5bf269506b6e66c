"""HackMatrix as a vector environment of Stable-Baselines3: all games in one engine, one call for all."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from hackmatrix import gym_infos, gym_spaces
from hackmatrix.games.engines import DEADLINE
from hackmatrix.games.episodes import Episodes
from hackmatrix.gym_spaces import Observation
from hackmatrix.render.model import board_model


class HackMatrixVecEnv(VecEnv):
    """``num_envs`` games of HackMatrix; one game is described in `gym_env.HackMatrixEnv`.

    Games that end start anew in the same step, with the seeds of R6. The info of that step speaks of the old
    game and has ``terminal_observation``, ``TimeLimit.truncated``, ``episode_stats`` and, for SB3's own
    statistics, ``episode`` (r, l, t); ``reset_infos`` has the new game's. With the same seeds all is as of
    ``DummyVecEnv`` over ``HackMatrixEnv``.

    Args:
        num_envs: how many games.
        engine, deadline, restart: as in `gym_env.HackMatrixEnv`.
        seed: ``reset`` plays the games seed, seed + 1, … (R6), as after ``seed(seed)``; None: random ones.
        max_episode_steps: an episode is truncated after this many steps; None: never.

    Raises:
        UsageError: an argument is wrong.
        SwiftEngineError: the Swift engine is not built, or fails.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        engine: str = "swift",
        seed: int | None = None,
        deadline: float = DEADLINE,
        restart: bool = False,
        max_episode_steps: int | None = None,
    ) -> None:
        self._episodes = Episodes(
            num_envs, engine, deadline=deadline, restart=restart, max_episode_steps=max_episode_steps
        )
        self.render_mode = "rgb_array"
        self.metadata = {"render_modes": ["rgb_array"]}
        super().__init__(num_envs, gym_spaces.observation_space(), gym_spaces.action_space())
        if seed is not None:
            self.seed(seed)

    def reset(self) -> Observation:
        """Start an episode in every game."""
        slots = np.arange(self.num_envs)
        seeds = [None if seed is None else gym_spaces.check_seed(int(seed)) for seed in self._seeds]
        if all(seed is not None for seed in seeds):
            self._episodes.start(slots, np.array(seeds, np.uint64))
        else:
            self._episodes.start(slots)
        self.reset_infos = [gym_infos.view_of_one(self._episodes, game) for game in range(self.num_envs)]
        self._reset_seeds()
        return self._observation()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Begin one action (n,) in every game; ``step_wait`` must follow."""
        self._episodes.begin_step(gym_spaces.check_actions(actions, self.num_envs))

    def step_wait(self) -> VecEnvStepReturn:
        """What the step begun gave: observation, rewards float32 (n,), dones bool (n,), infos."""
        episodes, step = self._episodes, self._episodes.finish_step()
        dones = step.terminated | step.truncated
        ended = np.flatnonzero(dones)
        infos = [
            {**gym_infos.view_of_one(episodes, game), **gym_infos.step_of_one(episodes, step, game)}
            for game in range(self.num_envs)
        ]
        for game, info in enumerate(infos):
            info["TimeLimit.truncated"] = bool(step.truncated[game])
        for game in ended.tolist():
            info, stats = infos[game], infos[game]["episode_stats"]
            info["terminal_observation"] = gym_spaces.split(episodes.observation[game].copy())
            info["episode"] = {"r": stats["return"], "l": stats["steps"], "t": 0.0}
        if len(ended):
            episodes.start(ended, in_place=True)
            for game in ended.tolist():
                self.reset_infos[game] = gym_infos.view_of_one(episodes, game)
        return self._observation(), step.reward, dones, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """The valid actions now, bool (n, 28), from the engine's last answer."""
        return self._episodes.mask

    def get_states(self) -> list[dict[str, Any]]:
        """The complete states of all games, as the dicts S of docs/protocol.md."""
        return self._episodes.get_states()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A picture of every board."""
        from hackmatrix.render.picture import draw_picture

        return [draw_picture(board_model(state)) for state in self.get_states()]

    def close(self) -> None:
        """End the engine."""
        self._episodes.close()

    def has_attr(self, attr_name: str) -> bool:
        """Whether every game has an attribute or method of this name."""
        return attr_name in ("action_masks", "render_mode", "spec")

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """The render mode and the spec of games; raises AttributeError for anything else."""
        values = {"render_mode": self.render_mode, "spec": gym.spec("HackMatrix-v0")}
        if attr_name not in values:
            raise AttributeError(f"the games of HackMatrixVecEnv have no attribute {attr_name!r}")
        return [values[attr_name]] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:  # noqa: ANN401 - SB3's
        """The games have nothing to set: raises AttributeError."""
        raise AttributeError(f"the games of HackMatrixVecEnv have no attribute {attr_name!r} to set")

    def env_method(
        self,
        method_name: str,
        *method_args: Any,  # noqa: ANN401 - SB3's signature
        indices: VecEnvIndices = None,
        **method_kwargs: Any,  # noqa: ANN401 - SB3's signature
    ) -> list[Any]:
        """``action_masks`` of games, as MaskablePPO asks for them; raises AttributeError for anything else."""
        if method_name != "action_masks":
            raise AttributeError(f"the games of HackMatrixVecEnv have no method {method_name!r}")
        return [self._episodes.mask[game] for game in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """No game is wrapped in anything; with their ``episode`` infos they count as monitored."""
        from stable_baselines3.common.monitor import Monitor

        return [issubclass(wrapper_class, Monitor)] * len(list(self._get_indices(indices)))

    def _observation(self) -> Observation:
        return gym_spaces.split(self._episodes.observation)

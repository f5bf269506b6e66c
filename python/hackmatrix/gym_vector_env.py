"""``HackMatrix-v0`` as a native vector environment: all games in one engine, one call for all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hackmatrix import gym_infos, gym_spaces
from hackmatrix.games.engines import DEADLINE
from hackmatrix.games.episodes import Episodes, Step
from hackmatrix.gym_spaces import Observation
from parity.errors import UsageError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class HackMatrixVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """``num_envs`` games of HackMatrix; one game is described in `gym_env.HackMatrixEnv`.

    Observations, rewards (float64) and flags have a leading axis of games; infos hold arrays of that length, and
    beside every key ``_key``, which games it concerns, as Gymnasium's own vector environments do. With the same
    seeds it gives the same arrays as ``SyncVectorEnv`` over ``HackMatrixEnv``.

    Seeds: ``reset(seed=s)`` plays the games s, s + 1, … (R6); a list gives every game its own.
    ``options={"reset_mask": mask}`` resets only those games.

    Autoreset, by ``autoreset_mode``: ``NEXT_STEP`` (the default): the step after the end starts the next game
    and ignores the action. ``SAME_STEP``: the step that ends gives the next game's first observation, and
    ``final_obs`` and ``final_info`` in the info. ``DISABLED``: games wait for ``reset`` with a mask.

    Args:
        num_envs: how many games.
        engine, deadline, restart: as in `gym_env.HackMatrixEnv`.
        autoreset_mode: an AutoresetMode or its value.
        max_episode_steps: an episode is truncated after this many steps; None: never.

    Raises:
        UsageError: an argument is wrong.
        SwiftEngineError: the Swift engine is not built, or fails.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        engine: str = "swift",
        deadline: float = DEADLINE,
        restart: bool = False,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
    ) -> None:
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(mode.value for mode in AutoresetMode)
            raise UsageError(f"there is no autoreset mode {autoreset_mode!r}: choose one of {modes}.") from None
        self.num_envs = num_envs
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space = gym_spaces.observation_space()
        self.single_action_space = gym_spaces.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._episodes = Episodes(
            num_envs, engine, deadline=deadline, restart=restart, max_episode_steps=max_episode_steps
        )
        self._ended = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start episodes in all games, or in those of ``options["reset_mask"]``."""
        if isinstance(seed, (int, np.integer)):
            gym_spaces.check_seed(int(seed))
            super().reset(seed=int(seed))
            seed = [(int(seed) + game) % (1 << 64) for game in range(self.num_envs)]
        given = [None] * self.num_envs if seed is None else list(seed)
        if len(given) != self.num_envs:
            raise UsageError(f"there must be one seed for each of {self.num_envs} games, not {len(given)}.")
        wanted = self._wanted(options)
        with_seed = wanted & np.array([value is not None for value in given])
        without = wanted & ~with_seed
        if with_seed.any():
            slots = np.flatnonzero(with_seed)
            seeds = [gym_spaces.check_seed(given[slot] or 0) for slot in slots]
            self._episodes.start(slots, np.array(seeds, np.uint64))
        if without.any():
            self._episodes.start(np.flatnonzero(without))
        self._ended = self._ended & ~wanted
        return self._observations(), gym_infos.view_of_many(self._episodes, wanted)

    def step(
        self, actions: NDArray[np.int64] | Sequence[int]
    ) -> tuple[Observation, Floats, Bools, Bools, dict[str, Any]]:
        """One action (n,) in every game."""
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: NDArray[np.int64] | Sequence[int]) -> None:
        """Begin a step; ``step_wait`` must follow."""
        if self._mode is AutoresetMode.DISABLED and self._ended.any():
            waiting = np.flatnonzero(self._ended).tolist()
            raise UsageError(f'games {waiting} have ended: reset them with options={{"reset_mask": mask}} first.')
        self._episodes.begin_step(gym_spaces.check_actions(actions, self.num_envs))

    def step_wait(self) -> tuple[Observation, Floats, Bools, Bools, dict[str, Any]]:
        """What the step begun gave."""
        restarting = self._ended  # only in NEXT_STEP: the step of these games is their reset
        step = self._episodes.finish_step()
        if restarting.any():
            self._episodes.start(np.flatnonzero(restarting), in_place=True)
            step = _without(step, restarting)
        ended = step.terminated | step.truncated
        if self._mode is AutoresetMode.SAME_STEP and ended.any():
            infos = self._start_next(step, ended)
        else:
            self._ended = ended
            infos = gym_infos.view_of_many(self._episodes, np.ones(self.num_envs, np.bool_))
            infos |= gym_infos.step_of_many(self._episodes, step, ~restarting)
        return self._observations(), step.reward.astype(np.float64), step.terminated, step.truncated, infos

    def action_masks(self) -> Bools:
        """The valid actions now, bool (n, 28), from the engine's last answer."""
        return self._episodes.mask.copy()

    def get_states(self) -> list[dict[str, Any]]:
        """The complete states of all games, as the dicts S of docs/protocol.md."""
        return self._episodes.get_states()

    def close_extras(self, **_: Any) -> None:  # noqa: ANN401 - Gymnasium passes on what close() was given
        """End the engine."""
        self._episodes.close()

    def _start_next(self, step: Step, ended: Bools) -> dict[str, Any]:
        """Start the games that follow those that ended; the infos of the step, the old games' in ``final_info``."""
        episodes, everywhere = self._episodes, np.ones(self.num_envs, np.bool_)
        final_info = gym_infos.view_of_many(episodes, ended) | gym_infos.step_of_many(episodes, step, ended)
        going_on = gym_infos.step_of_many(episodes, step, ~ended)
        final_obs = np.full(self.num_envs, None, object)
        slots = np.flatnonzero(ended)
        for slot, flat in zip(slots, episodes.observation[slots], strict=True):
            final_obs[slot] = gym_spaces.split(flat)
        episodes.start(slots, in_place=True)
        finals = {"final_obs": final_obs, "_final_obs": ended, "final_info": final_info, "_final_info": ended.copy()}
        return gym_infos.view_of_many(episodes, everywhere) | going_on | finals

    def _observations(self) -> Observation:
        return gym_spaces.split(self._episodes.observation)

    def _wanted(self, options: dict[str, Any] | None) -> Bools:
        """The games to reset."""
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if (
            not isinstance(mask, np.ndarray)
            or mask.shape != (self.num_envs,)
            or mask.dtype != np.bool_
            or not mask.any()
        ):
            raise UsageError(f'options["reset_mask"] must be a bool array ({self.num_envs},) with a True in it.')
        return mask


def _without(step: Step, games: Bools) -> Step:
    """A step in which these games played nothing."""
    return step._replace(
        reward=np.where(games, np.float32(0), step.reward),
        terminated=step.terminated & ~games,
        truncated=step.truncated & ~games,
    )

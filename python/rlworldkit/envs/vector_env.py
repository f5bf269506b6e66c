"""Gymnasium vector environment of many games of a world, which one engine steps in one call."""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rlparity import State, UsageError, World
from rlworldkit.envs import infos
from rlworldkit.envs.arguments import check_actions, check_seed
from rlworldkit.envs.episodes import EpisodeOptions, Episodes, EpisodeStep
from rlworldkit.envs.spaces import RENDER_MODES, action_space, metadata_of, observation_space
from rlworldkit.render.show import picture_of, text_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class WorldVectorEnv(VectorEnv[Any, NDArray[np.int64], NDArray[Any]]):
    """Vector environment of ``num_envs`` games of a world; see `gym_env.WorldEnv` for one game.

    Observations, rewards (float64) and flags have a leading axis of games; infos hold arrays of that length and, for
    every key, a mask ``_key`` of the games that have it, as in Gymnasium's own vector environments. With the same
    seeds it returns the same arrays as ``SyncVectorEnv`` over single games.

    Seeds: ``reset(seed=s)`` plays the games s, s + 1, …; a list gives every game its own.
    ``options={"reset_mask": mask}`` resets only those games.

    Autoreset, by ``autoreset_mode``: ``NEXT_STEP`` (the default): the step after the end starts the next game
    and ignores the action. ``SAME_STEP``: the last step returns the next game's first observation, and
    ``final_obs`` and ``final_info`` in the info. ``DISABLED``: games wait for ``reset`` with a mask.

    Args:
        world: the world.
        num_envs: number of games.
        render_mode: ``ansi``, ``rgb_array`` or None.
        autoreset_mode: an AutoresetMode or its value.
        options: `episodes.EpisodeOptions`.

    Raises:
        UsageError: an argument is wrong.
        EngineError: the engine cannot start, or fails.
    """

    def __init__(
        self,
        world: World,
        num_envs: int = 1,
        render_mode: str | None = None,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Unpack[EpisodeOptions],
    ) -> None:
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(mode.value for mode in AutoresetMode)
            raise UsageError(f"there is no autoreset mode {autoreset_mode!r}: choose one of {modes}.") from None
        drawn = [mode for mode in RENDER_MODES if mode != "human"]  # a window shows one game
        if render_mode not in (None, *drawn):
            raise UsageError(f"there is no render mode {render_mode!r} for many games: choose {' or '.join(drawn)}.")
        self.num_envs, self.render_mode = num_envs, render_mode
        self.metadata = {**metadata_of(world), "render_modes": drawn, "autoreset_mode": self._mode}
        self.single_observation_space, self.single_action_space = observation_space(world), action_space(world)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._episodes = Episodes(world, num_envs, **options)
        self.world, self.engine = self._episodes.world, self._episodes.engine
        self._ended = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes in all games, or in those of ``options["reset_mask"]``."""
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=check_seed(int(seed)))
            seed = [(int(seed) + game) % (1 << 64) for game in range(self.num_envs)]
        given = [None] * self.num_envs if seed is None else list(seed)
        if len(given) != self.num_envs:
            raise UsageError(f"there must be one seed for each of {self.num_envs} games, not {len(given)}.")
        wanted = self._wanted(options)
        has_seed = np.array([value is not None for value in given])
        seeded, others = np.flatnonzero(wanted & has_seed), np.flatnonzero(wanted & ~has_seed)
        if seeded.size:
            seeds = [check_seed(given[slot] or 0) for slot in seeded]
            self._episodes.start(seeded, np.array(seeds, np.uint64))
        if others.size:
            self._episodes.start(others)
        self._ended = self._ended & ~wanted
        return self._observations(), infos.view_of_many(self._episodes, wanted)

    def step(self, actions: NDArray[np.int64] | Sequence[int]) -> tuple[Any, Floats, Bools, Bools, dict[str, Any]]:
        """Play one action in each game, (n,)."""
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: NDArray[np.int64] | Sequence[int]) -> None:
        """Start a step; ``step_wait`` must follow."""
        if self._mode is AutoresetMode.DISABLED and self._ended.any():
            waiting = np.flatnonzero(self._ended).tolist()
            raise UsageError(f'games {waiting} have ended: reset them with options={{"reset_mask": mask}} first.')
        # in NEXT_STEP the step of games that ended is their reset
        checked = check_actions(actions, self.num_envs, len(self.world.actions))
        self._episodes.begin_step(checked, np.flatnonzero(self._ended))

    def step_wait(self) -> tuple[Any, Floats, Bools, Bools, dict[str, Any]]:
        """Finish the step and return its output."""
        restarting = self._ended  # only in NEXT_STEP: the step of these games is their reset
        episodes = self._episodes
        step = episodes.finish_step()
        if restarting.any():
            episodes.start(np.flatnonzero(restarting), in_place=True)
            step = step._replace(
                reward=np.where(restarting, step.reward.dtype.type(0), step.reward),
                terminated=step.terminated & ~restarting,
                truncated=step.truncated & ~restarting,
            )
        ended = step.terminated | step.truncated
        if self._mode is AutoresetMode.SAME_STEP and ended.any():
            info = self._start_next(step, ended)
        else:
            self._ended = ended
            info = infos.view_of_many(episodes, np.ones(self.num_envs, np.bool_))
            info |= infos.step_of_many(episodes, step, ~restarting)
        return self._observations(), step.reward.astype(np.float64), step.terminated, step.truncated, info

    def action_masks(self) -> Bools:
        """Return the valid actions now, bool (n, actions), from the engine's last answer."""
        return self._episodes.mask.copy()

    def get_states(self) -> list[State]:
        """Return the complete states of all games."""
        return self._episodes.get_states()

    def render(self) -> tuple[Any, ...] | None:
        """Render every game: texts for ``ansi``, uint8 (height, width, 3) for ``rgb_array``; None without a mode."""
        draw = {"ansi": text_of, "rgb_array": picture_of}.get(self.render_mode or "")
        return None if draw is None else tuple(draw(self.world, state) for state in self.get_states())

    def close_extras(self, **_: Any) -> None:  # noqa: ANN401 - Gymnasium passes on what close() was given
        """Close the engine."""
        self._episodes.close()

    def _start_next(self, step: EpisodeStep, ended: Bools) -> dict[str, Any]:
        """Start the next games where games ended; returns the step's infos, with the old games' in ``final_info``."""
        episodes = self._episodes
        final_info = infos.view_of_many(episodes, ended) | infos.step_of_many(episodes, step, ended)
        playing_on = infos.step_of_many(episodes, step, ~ended)
        final_obs, slots = np.full(self.num_envs, None, object), np.flatnonzero(ended)
        for slot, flat in zip(slots, episodes.observation[slots], strict=True):
            final_obs[slot] = self.world.split(flat)
        episodes.start(slots, in_place=True)
        finals = {"final_obs": final_obs, "_final_obs": ended, "final_info": final_info, "_final_info": ended.copy()}
        view = infos.view_of_many(episodes, np.ones(self.num_envs, np.bool_))
        return view | playing_on | finals

    def _observations(self) -> Any:  # noqa: ANN401 - an array or a dict of arrays
        return self.world.split(self._episodes.observation)

    def _wanted(self, options: dict[str, Any] | None) -> Bools:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        is_mask = isinstance(mask, np.ndarray) and mask.shape == (self.num_envs,) and mask.dtype == np.bool_
        if not is_mask or not mask.any():
            raise UsageError(f'options["reset_mask"] must be a bool array ({self.num_envs},) with a True in it.')
        return mask

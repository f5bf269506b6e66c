"""One game of a world as a Gymnasium environment."""

import inspect
from typing import TYPE_CHECKING, Any, Unpack

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from rlparity import UsageError, World
from rlworldkit.envs import infos
from rlworldkit.envs.arguments import check_action, check_limit, check_seed, plain_state
from rlworldkit.envs.episodes import EpisodeOptions, Episodes
from rlworldkit.envs.spaces import RENDER_MODES, action_space, env_id, metadata_of, observation_space
from rlworldkit.render.show import picture_of, text_of

if TYPE_CHECKING:
    from rlworldkit.render.window import Window

_ONLY = np.zeros(1, np.intp)


class WorldEnv(gym.Env[Any, np.int64]):
    """Gymnasium environment of one game of a world.

    Observation: an array, or the dict of arrays that ``World.split`` makes of it.

    Action: Discrete. The valid actions are in ``info["action_mask"]``, int8 for ``action_space.sample(mask)``, and
    in ``action_masks()``, bool for MaskablePPO; neither costs a call to the engine.

    Info, after every reset and step: ``action_mask``, ``seed`` (of this game, as int64: ``seed % 2**64`` is the seed)
    and the world's facts. After a step also ``reward_breakdown`` and, only when true, the world's events. At the end
    ``episode_stats`` (`rlworldkit.envs.statistics.summary`).

    Start: ``reset(seed=s)`` plays the game that every engine plays from seed *s*. Without a seed it plays the next game
    by the world's rule, the first time a random one. ``options={"state": S}`` starts from a complete state, as
    ``get_state`` returns it; NumPy values are allowed in it.

    Args:
        world: the world.
        render_mode: ``ansi``, ``rgb_array``, ``human`` (a window), or None.
        options: `episodes.EpisodeOptions`. Without ``max_episode_steps``, the limit of the ``gym.make`` call that
            makes this environment applies.

    Raises:
        UsageError: an argument is wrong.
        EngineError: the engine cannot start, or fails.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES)}  # noqa: RUF012 - Gymnasium's own
    """Metadata of any world; an instance's metadata has ``render_fps``, too."""

    def __init__(self, world: World, render_mode: str | None = None, **options: Unpack[EpisodeOptions]) -> None:
        if render_mode not in (None, *RENDER_MODES):
            raise UsageError(f"there is no render mode {render_mode!r}: choose one of {', '.join(RENDER_MODES)}.")
        self.render_mode, self.metadata = render_mode, metadata_of(world)
        self.observation_space, self.action_space = observation_space(world), action_space(world)
        if options.get("max_episode_steps") is None:
            options["max_episode_steps"] = _limit_of_make()
        self._episodes = Episodes(world, 1, **options)
        self.world, self.engine = self._episodes.world, self._episodes.engine
        self._window: Window | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; see the class."""
        super().reset(seed=None if seed is None else check_seed(seed))
        state = (options or {}).get("state")
        if state is not None:
            self._episodes.start_from([plain_state(state)], _ONLY)
        else:
            self._episodes.start(_ONLY, None if seed is None else np.array([seed], np.uint64))
        if self.render_mode == "human":
            self.render()
        return self._observation(), infos.view_of_one(self._episodes, 0)

    def step(self, action: np.int64 | int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one action; see the class."""
        episodes = self._episodes
        episodes.begin_step(np.array([check_action(action, len(self.world.actions))], np.int32))
        step = episodes.finish_step()
        info = infos.view_of_one(episodes, 0) | infos.step_of_one(episodes, step, 0)
        if self.render_mode == "human":
            self.render()
        return self._observation(), float(step.reward[0]), bool(step.terminated[0]), bool(step.truncated[0]), info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the valid actions now, bool (actions,), from the engine's last answer."""
        return self._episodes.mask[0].copy()

    def get_state(self) -> dict[str, Any]:
        """Return the complete state, in the format of the world's engines."""
        return self._episodes.get_states()[0]

    def render(self) -> Any:  # noqa: ANN401 - str, an array or nothing, by the mode
        """Render the game: text for ``ansi``, uint8 (height, width, 3) for ``rgb_array``; ``human`` shows a window."""
        if self.render_mode is None:
            call = f'gym.make("{env_id(self.world)}", render_mode="ansi")'
            gym.logger.warn(f"nothing is rendered without a render mode: {call}")
            return None
        if self.render_mode == "ansi":
            return text_of(self.world, self.get_state())
        picture = picture_of(self.world, self.get_state())
        if self.render_mode == "rgb_array":
            return picture
        if self._window is None:
            from rlworldkit.render.window import Window

            self._window = Window(self.world.title, self.metadata["render_fps"])
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the engine and the window; closing twice is fine."""
        self._episodes.close()
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything but the window; the unpickled environment continues the game."""
        return {**self.__dict__, "_window": None}

    def _observation(self) -> Any:  # noqa: ANN401 - an array or a dict of arrays
        return self.world.split(self._episodes.observation[0, ...])


def _limit_of_make() -> int | None:
    """Read the step limit of the enclosing ``gym.make`` call; None outside of one, or if it has no limit.

    ``gym.make`` does not pass ``max_episode_steps`` to the environment but wraps it in ``TimeLimit``. The environment
    must know the limit to put the statistics into the last info, so it reads the local variables of ``gym.make``.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not gym.make.__code__:
        frame = frame.f_back
    if frame is None:
        return None
    asked: int | None = frame.f_locals.get("max_episode_steps")
    registered: int | None = getattr(frame.f_locals.get("env_spec"), "max_episode_steps", None)
    return check_limit(registered if asked is None else asked)

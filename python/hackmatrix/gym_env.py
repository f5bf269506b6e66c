"""``HackMatrix-v0``: one game as a Gymnasium environment."""

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from hackmatrix import gym_infos, gym_spaces
from hackmatrix.games.engines import DEADLINE
from hackmatrix.games.episodes import Episodes
from hackmatrix.gym_spaces import Observation
from hackmatrix.render.model import board_model
from hackmatrix.render.text import draw_text
from parity.errors import UsageError

if TYPE_CHECKING:
    from hackmatrix.render.window import Window

RENDER_MODES = ("ansi", "rgb_array", "human")
_ONLY = np.zeros(1, np.intp)


class HackMatrixEnv(gym.Env[Observation, np.int64]):
    """HackMatrix, a roguelike on a 6x6 grid, played in the Swift engine or in the JAX one.

    Observation: a Dict of ``player`` float32 (10,), ``programs`` int8 (23,), ``grid`` float32 (6, 6, 42), all
    in [0, 1] (O1-O3). `FlatObservation` makes one vector of it in the order O.

    Action: Discrete(28): 0-3 move up, down, left, right, 4 siphon, 5-27 the programs of table P. Which are
    valid says ``info["action_mask"]``, int8 (28,), as ``action_space.sample(mask)`` takes it, and
    ``action_masks()``, bool (28,), as MaskablePPO asks for it; neither costs a call to the engine. An invalid
    action ends the episode (C1).

    Reward: the sum of table W. ``info["reward_breakdown"]`` has its 15 components.

    Info, after every reset and step: ``action_mask``, ``seed`` (of this game), ``stage``, ``score``, ``hp``,
    ``turn``. After a step also ``reward_breakdown`` and, only when true, ``invalid_action``,
    ``stage_complete``, ``death``, ``victory``. At the end ``episode_stats``: ``return``, ``reward_breakdown``,
    ``actions`` (move, siphon, program), ``programs_used``, ``highest_stage`` (9: won), ``steps``.

    Start: ``reset(seed=s)`` plays the game that every engine plays from seed *s* (R1). Without a seed comes
    the game that follows by R6, the first time a random one. ``options={"state": S}`` starts from a complete
    state, as ``get_state`` gives it.

    End: terminated at hp 0, at victory and after an invalid action (C4). The game never truncates; wrap it in
    ``TimeLimit``, or pass ``max_episode_steps`` to ``gym.make``.

    Args:
        render_mode: ``ansi``, ``rgb_array``, ``human`` or None.
        engine: ``swift`` or ``jax``; the same seeds and actions give the same results, bit for bit.
        deadline: seconds that the engine may take for an answer.
        restart: start the engine again when it fails: the episode is truncated, and
            ``info["engine_restarted"]`` says why. Otherwise SwiftEngineError is raised.

    Raises:
        UsageError: an argument is wrong.
        SwiftEngineError: the Swift engine is not built, or fails.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - Gymnasium's own

    def __init__(
        self,
        render_mode: str | None = None,
        *,
        engine: str = "swift",
        deadline: float = DEADLINE,
        restart: bool = False,
    ) -> None:
        if render_mode not in (None, *RENDER_MODES):
            raise UsageError(f"there is no render mode {render_mode!r}: choose one of {', '.join(RENDER_MODES)}.")
        self.render_mode = render_mode
        self.observation_space = gym_spaces.observation_space()
        self.action_space = gym_spaces.action_space()
        self._episodes = Episodes(1, engine, deadline=deadline, restart=restart)
        self._window: Window | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; see the class."""
        super().reset(seed=None if seed is None else gym_spaces.check_seed(seed))
        state = (options or {}).get("state")
        if state is not None:
            self._episodes.start_from([state], _ONLY)
        elif seed is not None:
            self._episodes.start(_ONLY, np.array([seed], np.uint64))
        else:
            self._episodes.start(_ONLY)
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play one action; see the class."""
        self._episodes.begin_step(np.array([gym_spaces.check_action(action)], np.int32))
        step = self._episodes.finish_step()
        terminated, truncated = bool(step.terminated[0]), bool(step.truncated[0])
        info = self._info() | gym_infos.step_of_one(self._episodes, step, 0)
        if self.render_mode == "human":
            self.render()
        return self._observation(), float(step.reward[0]), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """The valid actions now, bool (28,), from the engine's last answer."""
        return self._episodes.mask[0].copy()

    def get_state(self) -> dict[str, Any]:
        """The complete state, as the dict S of docs/protocol.md."""
        return self._episodes.get_states()[0]

    def render(self) -> Any:  # noqa: ANN401 - str, an array or nothing, by the mode
        """The board: a text for ``ansi``, uint8 (height, width, 3) for ``rgb_array``; ``human`` shows a window."""
        if self.render_mode is None:
            gym.logger.warn('nothing is rendered without a render mode: gym.make("HackMatrix-v0", render_mode="ansi")')
            return None
        board = board_model(self.get_state())
        if self.render_mode == "ansi":
            return draw_text(board)
        from hackmatrix.render.picture import draw_picture

        if self.render_mode == "rgb_array":
            return draw_picture(board)
        if self._window is None:
            from hackmatrix.render.window import Window

            self._window = Window(fps=self.metadata["render_fps"])
        self._window.show(board)
        return None

    def close(self) -> None:
        """End the engine and close the window; done a second time, nothing."""
        self._episodes.close()
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the window; the game goes on where this is read."""
        return {**self.__dict__, "_window": None}

    def _observation(self) -> Observation:
        return gym_spaces.split(self._episodes.observation[0])

    def _info(self) -> dict[str, Any]:
        return gym_infos.view_of_one(self._episodes, 0)

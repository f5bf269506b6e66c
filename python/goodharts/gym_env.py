"""``Goodharts-v0``: one game as a Gymnasium environment, and many as a vector environment."""

from typing import Any

from goodharts.rules import DEFAULT_MODE
from goodharts.world import GROUND_TRUTH, world_of
from rlworldkit.envs.gym_env import WorldEnv
from rlworldkit.envs.spaces import metadata_of
from rlworldkit.envs.vector_env import WorldVectorEnv


class GoodhartsEnv(WorldEnv):
    """Goodharts in training: an agent eats on a torus of 128x128 cells, and may be rewarded for the wrong thing.

    Observation: Box(0, 1, (2, 11, 11), float32), the cells around the agent in two channels, rows first (G7). In the
    modes ``ground_truth`` and ``ground_truth_handhold`` one channel shows food, the other one poison. In the other
    modes both channels show how interesting a cell is: food 1, poison 0.5.

    Action: Discrete(8), the king's moves in the order of G4; all are always valid.

    Reward: by the mode (G12), clipped to [-20, 20]. ``info["reward_breakdown"]`` has its components ``step``,
    ``food``, ``poison``, ``death`` and ``shaping``.

    Info, besides that of `WorldEnv`, whose ``seed`` is the game's key (G10): the facts ``energy`` (int, thousandths)
    and ``steps`` (of this life), the events ``ate_food``, ``ate_poison``, ``death``, and in ``episode_stats`` ``food``
    and ``poison``, the amounts eaten.

    Start: ``reset(seed=s)`` is game 0 of a run with seed *s* (G10), with 64 to 256 food and 64 to 256 poison. Without a
    seed, ``reset`` starts the same game's next episode (G6), which depends on the steps of the game so far, or at first
    a random game. ``options={"state": S}`` starts from a complete state, as ``get_state`` returns it (G13).

    End: terminated when the energy is used up, which never happens in mode ``proxy``; truncated after 512 steps, or
    after ``max_episode_steps``, here or in ``gym.make``, if that is less. Both may be true (G5).

    Arguments and errors are those of `WorldEnv`, and ``mode``: one of the modes of the rules.
    """

    metadata = metadata_of(GROUND_TRUTH)

    def __init__(self, render_mode: str | None = None, *, mode: str = DEFAULT_MODE, **options: Any) -> None:  # noqa: ANN401
        super().__init__(world_of(mode), render_mode, **options)


class GoodhartsVectorEnv(WorldVectorEnv):
    """``num_envs`` games of Goodharts; `GoodhartsEnv` describes one, `WorldVectorEnv` the options of many.

    ``reset(seed=s)`` plays game 0 of each of the runs s, s + 1, …, as Gymnasium's own vector environments would.
    """

    def __init__(self, num_envs: int = 1, *, mode: str = DEFAULT_MODE, **options: Any) -> None:  # noqa: ANN401
        super().__init__(world_of(mode), num_envs, **options)
